import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { ledgerLineSchema } from '@gaia-mesh/core/contracts/ledger.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { recogniseOurJson } from '@gaia-mesh/core/recording/read-archive.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { IMPLEMENTATIONS } from '@gaia-mesh/stacks/contract/stack.ts';
import * as z from 'zod';

/** Maximum bytes of a comparison file; two hundred rounds of all adapters take about 100 kB. */
const MAX_COMPARISON_BYTES = 16 * 1024 * 1024;

/**
 * Version of the file format. Version 3 has one form for adapters and stacks. Files of earlier versions are refused: their figures have
 * other names, and those of version 1 were measured differently.
 */
export const COMPARISON_VERSION = 3;

const amount = z.number().nonnegative();
/** An amount, or null for ∞, which JSON lacks: the end of an interval if there are too few rounds. */
const unbounded = amount.nullable();
const name = z.string().min(1);

/** Properties of every verdict on an arm and the baseline. */
const judgedSchema = z.object({
  adjustedP: amount,
  /** The smallest effect that as many samples would show in four of five measurements: a ratio above 1, or its inverse; a difference. */
  detectable: unbounded,
  verdict: z.enum(['different', 'equivalent', 'cannot tell']),
});

const verdictSchema = judgedSchema.extend({
  /** Fresh processes of each arm. */
  invocations: z.int().positive(),
  /** Samples of each process. */
  rounds: z.int().positive(),
  /** Ratio to the baseline. */
  ratio: z.number().positive(),
  low: amount,
  high: unbounded,
  pValue: amount,
  /** Standard deviations of the ratio's logarithm, between processes and between rounds of one. */
  spread: z.object({ invocations: amount, rounds: amount }),
  adjustedEquivalenceP: amount,
  margin: z.number().positive(),
  /** The interval of the baseline against itself, which a difference has to exceed for its verdict. */
  nullArm: z.object({ ratio: z.number().positive(), low: amount, high: unbounded }).optional(),
  /** Invocations that would give a verdict; null if there would be too many, or none would. */
  needed: unbounded,
});

/** Verdicts by metric, each on the ratio to the baseline; null if the metric was not measured. */
const verdictsSchema = z.object({
  /** Time of all tasks in steady state, without tools; of an exchange at the fixed rate. */
  time: verdictSchema.nullable(),
  /** CPU time of all processes. */
  cpu: verdictSchema.nullable(),
  /** Time of what a process does only once: the first pass of the recording, the set-up of a session. */
  first: verdictSchema.nullable(),
  /** Time of an exchange at the highest concurrency, where the next one begins as soon as one ends. */
  saturated: verdictSchema.nullable(),
});

/** Rounds of each invocation, in microseconds; empty if the metric was not measured. */
const roundsSchema = z.array(z.array(amount).max(10_000)).max(10_000);
const samplesSchema = z.object({
  time: roundsSchema,
  cpu: roundsSchema,
  first: roundsSchema,
  saturated: roundsSchema,
});

/** Figures that every arm has. */
const armSchema = z.object({
  name,
  /** Fresh processes of the arm. */
  invocations: z.int().positive(),
  /** Exact bytes of one pass through the traffic, and the parts that are payload and that are not. */
  wire_bytes: amount,
  payload_bytes: amount,
  header_bytes: z.number(),
  /** Bytes of the handshake or the set-up. */
  session_bytes: amount,
  /** Medians in microseconds: CPU time, null if the machine does not count it, and the time of what a process does only once. */
  cpu_us: amount.nullable(),
  first_us: amount,
  /** Percentiles of the time; those that the sample cannot hold are null. Null for an arm that did not keep up with the rate. */
  latency_us: z
    .object({
      n: z.int().positive(),
      p50: amount,
      p95: amount.nullable(),
      p99: amount.nullable(),
      p999: amount.nullable(),
    })
    .nullable(),
  /** Samples that the verdicts are based on. */
  samples_us: samplesSchema,
  /** Null for the baseline. */
  vs_baseline: verdictsSchema
    .extend({
      bytes: z.object({
        ratio: z.number().positive(),
        low: z.number(),
        high: z.number(),
        verdict: z.enum(['smaller', 'larger', 'equal']),
      }),
    })
    .nullable(),
});

/** Packets of one kind or size class, each counted once. */
const groupSchema = z.object({ name, packets: z.int().nonnegative(), payload: amount, wire: amount });

const adapterArmSchema = armSchema.extend({
  /** Bytes by the recording's parts, and by size of payload; each sums to the ledger's total. */
  by_part: z.array(groupSchema).max(100).default([]),
  by_size: z.array(groupSchema).max(100).default([]),
  ledger: z.object({ types: z.record(z.string(), ledgerLineSchema), total: ledgerLineSchema }),
  /** Bytes of all sockets for packets, copies included. */
  bytes_on_wire: amount,
  /** Wall-clock microseconds in the agents' codecs for all packets of the recording, in steady state, and in the first pass. */
  encode_us: amount,
  decode_us: amount,
  first_code_us: amount,
});

/** Bytes by line; raw = tls + head + envelope + payload. */
const linesSchema = z.object({
  raw: amount,
  tls: amount,
  head: amount,
  /** Bytes of the messages beyond the payloads as compact JSON; negative if a protocol encodes them in fewer bytes. */
  envelope: z.number(),
  payload: amount,
  messages: amount,
});

const passSchema = z.object({
  exchanges: z.int().positive(),
  sent: linesSchema,
  received: linesSchema,
  per_exchange: amount,
});

/** A network between two ends; null for the loopback alone. */
const networkSchema = z.object({ rttMs: amount, bitsPerS: z.number().positive() }).nullable().default(null);

const settingsSchema = z.object({
  tls: z.boolean(),
  connections: z.int(),
  keepAliveMs: amount,
  deadlineMs: amount,
  workMs: amount,
  size: amount.nullable(),
  network: networkSchema,
});

const cpuSchema = z.object({ user: amount, system: amount });

const stackArmSchema = armSchema.extend({
  stack: z.string(),
  /** `sdk`; of a client and a server in different languages `sdk→python`. */
  implementation: z.string(),
  client: z.enum(IMPLEMENTATIONS).optional(),
  server: z.enum(IMPLEMENTATIONS).optional(),
  protocol: z.string(),
  transport: z.string(),
  settings: settingsSchema,
  levels: z.record(z.string(), z.string()),
  /** Client's bytes of one pass through the exchanges with an answer, on a session in use; the server counted the same. */
  bytes: passSchema.extend({
    /** Bytes of the exchanges without an answer: the received ones are the protocol's own acknowledgement. */
    one_way: passSchema.nullable(),
    /** True if every invocation that counted bytes had the same ones. */
    is_repeatable: z.boolean(),
  }),
  /** Cost of setting up a session, with the bytes of connections that are opened at first use; `ms` excludes those. */
  setup: z.object({
    sent_bytes: amount,
    received_bytes: amount,
    connections: amount,
    messages: amount,
    ms: amount,
    /** Round trips of the set-up with first connections, and of an exchange with an answer, as the network between the ends saw them; null without one. */
    round_trips: amount.nullable().default(null),
    round_trips_per_exchange: amount.nullable().default(null),
    /** Milliseconds from the beginning of the set-up to the first answer; null without a network. */
    first_answer_ms: amount.nullable().default(null),
  }),
  /** CPU microseconds of an exchange at each side, one at a time: medians over rounds. */
  cpu: z.object({ client: cpuSchema, server: cpuSchema }),
  /** The load at the fixed rate: its largest delay, and times taken evenly from all rounds, so that two modes are visible. */
  load: z.object({ late_us: amount, samples_us: z.array(amount).max(2000) }),
  saturation: z.array(z.object({ concurrency: z.int().positive(), per_s: amount, samples: roundsSchema })),
  curve: z
    .array(
      z.object({
        offered_per_s: amount,
        achieved_per_s: amount,
        n: amount,
        p50_us: amount.nullable(),
        p99_us: amount.nullable(),
      }),
    )
    .nullable(),
  knee_per_s: amount.nullable(),
  rss_bytes: z.object({ client: amount, server: amount }),
});

const share = z.number().min(-1).max(1);

const rightVerdictSchema = judgedSchema.extend({
  /** Questions that both were asked, and those at which the arm was right more often, and less often. */
  questions: z.int().positive(),
  won: z.int().nonnegative(),
  lost: z.int().nonnegative(),
  /** Share of right answers less that of the baseline, with an interval that is corrected as the test is. */
  difference: share,
  low: share,
  high: share,
});
const rightSchema = z.object({ right: rightVerdictSchema.nullable() });

const teamArmSchema = z.object({
  name,
  /** The engine and its model, as they were asked for. */
  engine: z.string(),
  model: z.string().nullable(),
  /** First attempts: questions, those whose true answer is known, and right answers to them. */
  questions: z.int().nonnegative(),
  answered: z.int().nonnegative(),
  scored: z.int().nonnegative(),
  correct: z.int().nonnegative(),
  correct_lenient: z.int().nonnegative(),
  accuracy: amount.nullable(),
  low: amount.nullable(),
  high: amount.nullable(),
  /** Attempts at the scored questions, one text for each cycle: `1` is right, `0` is not, `-` was not made. */
  samples: z.object({ right: z.array(z.string().regex(/^[01-]*$/)).max(10_000) }),
  /** Null for the baseline. */
  vs_baseline: rightSchema.nullable(),
  /** Second attempts against first ones; null without any, and for the baseline, whose verdict is the null test. */
  vs_itself: rightSchema.nullable(),
});

/** Properties that all comparisons share. */
const headSchema = z.object({
  schema_version: z.literal(COMPARISON_VERSION),
  /** The result in one sentence; null if there is no verdict. */
  sentence: z.string().nullable(),
  /** The command line that repeats the measurement. */
  command: z.string().nullable().default(null),
  /** End of the measurement, in ISO 8601; null in files that were written before it was kept. */
  measured_at: z.iso.datetime().nullable().default(null),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  /** The arm with which the others are compared. */
  baseline: z.string(),
  /** Problems during the measurement. */
  warnings: z.array(z.string()).max(20),
  /** Requested arms that were left out, and arms that failed, with reasons. */
  left_out: z.array(z.string()),
  failed: z.array(z.string()),
});

/** Properties that comparisons of adapters and of stacks share. */
const trafficSchema = headSchema.extend({
  /** The recording whose packets the arms carry, and their number. */
  run_id: z.string(),
  team: z.string(),
  engine: z.string(),
  agents: z.int().positive(),
  tasks: z.int().positive(),
  packets: z.int().positive(),
  seed: z.number(),
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  margin: z.number().positive(),
  /** The baseline compared with itself in separate processes, as one more arm: no smaller difference is called. */
  null_test: verdictsSchema.extend({ samples_us: samplesSchema }),
  /** Fresh processes of each arm, and samples of each. */
  invocations: z.int().positive(),
  rounds: z.int().positive(),
  elapsed_ms: amount,
  /** Invocations that a failed connection ended; they were played again and are in no figure. */
  lost_invocations: z.int().nonnegative(),
  stopped: z.enum(['invocations', 'budget', 'interrupted']),
  /** State of the machine after each round of the arms that were played together. */
  machine: z
    .array(
      z.object({
        invocation: z.int().nonnegative(),
        round: z.int().nonnegative(),
        load: amount,
        steal_ms: amount.nullable(),
        throttled_ms: amount.nullable(),
        available_bytes: amount,
      }),
    )
    .max(100_000),
});

const adaptersSchema = z
  .object({ kind: z.literal('adapters') })
  .extend(trafficSchema.shape)
  .extend({
    arms: z.array(adapterArmSchema).min(1).max(100),
    /** The network between the hub and each agent. */
    network: networkSchema,
    /** Milliseconds of one task with its tools, through the baseline. */
    task_ms: amount,
    /** Passes of the recording in a sample. */
    passes: z.int().positive(),
  });

const stacksSchema = z
  .object({ kind: z.literal('stacks') })
  .extend(trafficSchema.shape)
  .extend({
    arms: z.array(stackArmSchema).min(1).max(100),
    /** Origin and size of the exchanges. */
    traffic: z.object({
      source: z.string(),
      exchanges: z.int().positive(),
      payload_bytes: z.object({ smallest: amount, median: amount, largest: amount }),
    }),
    rate_per_s: z.number().positive(),
  });

const teamsSchema = z
  .object({ kind: z.literal('teams') })
  .extend(headSchema.shape)
  .extend({
    arms: z.array(teamArmSchema).min(1).max(1000),
    /** Origin and number of the questions, attempts at each, and a hash by which a saved comparison has the same ones. */
    questions: z.object({
      source: z.string().nullable(),
      asked: z.int().nonnegative(),
      repeat: z.int().positive(),
      sha256: z.string(),
    }),
    /** The other pairs that were declared before the run and are judged together with those of the baseline. */
    further_pairs: z.array(rightSchema.extend({ base: name, other: name })).max(1_000_000),
    /** The baseline's second attempts against its first. */
    null_test: rightSchema,
  });

const fileSchema = z.discriminatedUnion('kind', [adaptersSchema, stacksSchema, teamsSchema]);

/** `comparison.json`. All outputs derive from it. */
export type ComparisonFile = z.infer<typeof fileSchema>;
export type AdaptersComparison = z.infer<typeof adaptersSchema>;
export type StacksComparison = z.infer<typeof stacksSchema>;
export type TeamsComparison = z.infer<typeof teamsSchema>;
/** A comparison of what carries the same traffic. */
export type TrafficComparison = AdaptersComparison | StacksComparison;
export type ComparedArm = z.infer<typeof armSchema>;
export type StackArm = z.infer<typeof stackArmSchema>;
export type Verdict = z.infer<typeof verdictSchema>;
/** The verdict on right answers. */
export type RightVerdict = z.infer<typeof rightVerdictSchema>;
export type Samples = z.infer<typeof samplesSchema>;
export type Metric = keyof Samples;

const versionSchema = z.object({ schema_version: z.number() });

/** @throws MeshError `config` if the file is missing, too large, or not a comparison */
export function readComparison(file: string): ComparisonFile {
  const text = readUserText(file, { what: 'comparison', maxBytes: MAX_COMPARISON_BYTES });
  return parseComparison(text, `comparison ${file}`);
}

/** @throws MeshError `config` if the text is not a comparison, or one of another kind than the given one */
export function parseComparison<Kind extends ComparisonFile['kind'] = ComparisonFile['kind']>(
  text: string,
  where: string,
  wanted?: Kind,
): Extract<ComparisonFile, { readonly kind: Kind }> {
  const head = versionSchema.safeParse(tryParseJson(text));
  const kind =
    head.data?.schema_version === COMPARISON_VERSION ? undefined : recogniseOurJson(text.slice(0, 4096));
  if (kind !== undefined && kind !== 'a comparison')
    throw new MeshError('config', `${where} is ${kind}: expected the comparison.json of a comparison`);
  if (head.success && head.data.schema_version !== COMPARISON_VERSION) {
    throw new MeshError(
      'config',
      `${where}: expected schema version ${COMPARISON_VERSION}, got ${head.data.schema_version}, which another version of Gaia Mesh wrote; create it again`,
    );
  }
  const result = fileSchema.safeParse(parseJsonLine(text, z.unknown(), where));
  if (!result.success)
    throw new MeshError(
      'config',
      `${where} is not the comparison.json of a comparison: ${formatIssues(result.error)}; make one with ${formatCommandLine('compare')}`,
    );
  const file = result.data;
  if (wanted === undefined || file.kind === wanted)
    return file as Extract<ComparisonFile, { readonly kind: Kind }>;
  throw new MeshError('config', `${where}: expected a comparison of ${wanted}, got one of ${file.kind}`);
}
