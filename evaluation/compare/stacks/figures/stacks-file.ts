import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

const amount = z.number().nonnegative();
/** An amount, or null for ∞, which JSON lacks. */
const unbounded = amount.nullable();
const samples = z.array(z.array(z.number().positive())).max(1000);

/** The baseline against itself: a ratio with its interval. */
const nullArmSchema = z.object({ ratio: z.number().positive(), low: amount, high: unbounded });
const verdictSchema = z.object({
  /** Fresh pairs of processes of each arm, and rounds in each. */
  invocations: z.int().positive(),
  rounds: z.int().positive(),
  /** Ratio to the baseline. */
  ratio: z.number().positive(),
  low: amount,
  high: unbounded,
  adjustedP: amount,
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  margin: z.number().positive(),
  /** The smallest ratio, or its inverse, that such invocations call in four of five measurements. */
  detectable: unbounded,
  verdict: z.enum(['different', 'equivalent', 'cannot tell']),
  /** The interval that a difference has to exceed for its verdict. */
  nullArm: nullArmSchema.optional(),
  /** Invocations that would give a verdict. */
  needed: unbounded,
});
export type PairVerdict = z.infer<typeof verdictSchema>;

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
export type ByteLines = z.infer<typeof linesSchema>;

const passSchema = z.object({
  exchanges: z.int().positive(),
  sent: linesSchema,
  received: linesSchema,
  per_exchange: amount,
});

const cpuSchema = z.object({ user: amount, system: amount });

const pairVerdictsSchema = z.object({
  latency: verdictSchema.nullable(),
  cpu: verdictSchema.nullable(),
  /** Verdict on the time of an exchange at the highest concurrency, where the next one begins as soon as one ends. */
  saturated: verdictSchema.nullable(),
});

const settingsSchema = z.object({
  tls: z.boolean(),
  connections: z.int(),
  keepAliveMs: amount,
  noDelay: z.boolean(),
  later: z.string(),
  pollMs: amount,
  history: z.boolean(),
  results: z.string(),
  deadlineMs: amount,
  workMs: amount,
  size: amount.nullable(),
});

const armSchema = z.object({
  name: z.string().min(1),
  stack: z.string(),
  implementation: z.enum(['sdk', 'bare']),
  protocol: z.string(),
  transport: z.string(),
  settings: settingsSchema,
  levels: z.record(z.string(), z.string()),
  invocations: z.int().positive(),
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
    samples_ms: z.array(amount),
    /** Upper bound: the sent messages, and the handshakes of TCP and TLS. */
    round_trips_at_most: amount,
    /** Exchanges after which a set-up that costs more than the baseline's is paid back; 0 means at once, null never. */
    paid_back_bytes: amount.nullable(),
    paid_back_time: amount.nullable(),
  }),
  /** CPU microseconds of an exchange, one at a time: medians over rounds. */
  cpu_us: z.object({ client: cpuSchema, server: cpuSchema, sum: amount }),
  /** Microseconds from the due time of each exchange at the fixed rate; percentiles that the sample cannot hold are null. */
  latency_us: z
    .object({
      n: z.int().positive(),
      p50: amount,
      p99: amount.nullable(),
      p999: amount.nullable(),
      /** Largest delay of the load itself. */
      late: amount,
      /** Times taken evenly from all rounds, so that two modes are visible. */
      samples: z.array(amount).max(2000),
    })
    .nullable(),
  saturation: z.array(z.object({ concurrency: z.int().positive(), per_s: amount, samples })),
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
  /** The server's memory as one task grows. */
  growth: z
    .array(
      z.object({
        exchanges: amount,
        heap_bytes: amount,
        rss_bytes: amount,
        exchange_us: amount.nullable(),
      }),
    )
    .nullable(),
  rss_bytes: z.object({ client: amount, server: amount }),
  /** Samples that verdicts are based on, one list for each invocation. */
  samples: z.object({ latency_us: samples, cpu_us: samples, saturated_us: samples }),
  vs_baseline: pairVerdictsSchema.extend({ bytes_ratio: z.number().positive() }).nullable(),
});

/** Tokens that a model reads; it reads nothing of the protocol around them. */
const tokensSchema = z.object({
  encoding: z.string(),
  definitions: z.array(z.object({ what: z.string(), items: amount, bytes: amount, tokens: amount })),
  /** Tokens of all payloads of the traffic as results of a tool. */
  results: z.array(z.object({ form: z.string(), tokens: amount })),
  shapes: z.array(
    z.object({
      shape: z.string(),
      payloads: amount,
      bytes: amount,
      compact: amount,
      pretty: amount,
      toon: amount,
    }),
  ),
  /** Payloads that are in no sum, because there was no time to count them. */
  not_counted: amount.optional(),
});

const shareSchema = z.object({ ratio: z.number().positive(), low: amount, high: unbounded });

/** Attribution of an arm's difference from the baseline to protocol, transport, implementation and settings: factors that multiply. */
const attributionSchema = z.object({
  arm: z.string(),
  figure: z.enum(['latency_us', 'cpu_us', 'saturated_us']),
  /** `exact`: every combination was measured; `ordered`: shares are the additions of each change in the orders that were measured. */
  method: z.enum(['exact', 'ordered']),
  total: shareSchema,
  shares: z.array(
    z.object({
      factor: z.string(),
      from: z.string(),
      to: z.string(),
      verdict: z.enum(['contributes', 'no share', 'cannot tell']),
      share: shareSchema,
    }),
  ),
});

const kindSchema = z.looseObject({ kind: z.literal('gaia-mesh-stacks') });

const stacksSchema = z.object({
  kind: z.literal('gaia-mesh-stacks'),
  schema_version: z.literal(1),
  sentence: z.string(),
  /** The command line that repeats the measurement; null in files from before it was stored. */
  command: z.string().nullable().default(null),
  /** Origin and size of the traffic. */
  traffic: z.object({
    source: z.string(),
    exchanges: z.int().positive(),
    packets: z.int().positive(),
    payload_bytes: z.object({ smallest: amount, median: amount, largest: amount }),
  }),
  seed: z.number(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  margin: z.number().positive(),
  /** State of the machine during the measurement, one element for each invocation of all arms. */
  machine: z.array(
    z.object({
      load: amount,
      steal_ms: amount.nullable(),
      throttled_ms: amount.nullable(),
      available_bytes: amount,
    }),
  ),
  /** Problems of the machine during the measurement. */
  warnings: z.array(z.string()).max(20),
  rate_per_s: z.number().positive(),
  baseline: z.string(),
  /** The baseline compared with itself, as one more arm of the same rounds: no smaller difference is called. */
  null_test: pairVerdictsSchema.extend({ setup: nullArmSchema.nullish() }),
  arms: z.array(armSchema).min(1).max(100),
  tokens: tokensSchema,
  /** Attributions of the arms that differ from the baseline in more than one factor. */
  attributions: z.array(attributionSchema).max(400),
  /** Requested arms that were left out, with reasons. */
  left_out: z.array(z.string()),
  /** Arms that failed, with reasons. */
  failed: z.array(z.string()),
  invocations: z.int().positive(),
  lost_invocations: amount,
  stopped: z.enum(['invocations', 'budget', 'interrupted']),
});

/** `stacks.json`. All outputs derive from it. */
export type StacksFile = z.infer<typeof stacksSchema>;
export type StackArm = StacksFile['arms'][number];

/** Returns true if a file's text claims to be a comparison of stacks. */
export function isStacksFile(text: string): boolean {
  // The parser of the file reports invalid JSON.
  return kindSchema.safeParse(tryParseJson(text)).success;
}

/** @throws MeshError `config` if the text is not a comparison of stacks */
export function parseStacks(text: string, where: string): StacksFile {
  const result = stacksSchema.safeParse(parseJsonLine(text, z.unknown(), where));
  if (!result.success) {
    throw new MeshError('config', `${where}: not a comparison of stacks: ${formatIssues(result.error)}`);
  }
  return result.data;
}
