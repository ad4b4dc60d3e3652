import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

const amount = z.number().nonnegative();
/** JSON has no ∞ and writes null. */
const unbounded = amount.nullable();
const samples = z.array(z.array(z.number().positive())).max(1000);

const verdictSchema = z.object({
  /** Fresh pairs of processes of each arm, and rounds in each. */
  invocations: z.int().positive(),
  rounds: z.int().positive(),
  /** Times what the baseline takes. */
  ratio: z.number().positive(),
  low: amount,
  high: unbounded,
  adjustedP: amount,
  /** Ratios within it count as equal. */
  margin: z.number().positive(),
  /** The smallest ratio, or its inverse, that such invocations call in four of five measurements. */
  detectable: unbounded,
  verdict: z.enum(['different', 'equivalent', 'cannot tell']),
  /** Invocations that would give a verdict. */
  needed: unbounded,
});
export type PairVerdict = z.infer<typeof verdictSchema>;

/** Every byte is on one line: raw = tls + head + envelope + payload. */
const linesSchema = z.object({
  raw: amount,
  tls: amount,
  head: amount,
  /** What the messages are besides the payloads as compact JSON; below 0 where a protocol writes them shorter. */
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
  /** Of the time an exchange when the next begins as soon as one is over, at the highest concurrency. */
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
  /** One pass through the exchanges that have an answer, on a session that is in use; of the client, the server counted the same. */
  bytes: passSchema.extend({
    /** The same of those that have none: what is received is the protocol's own acknowledgement. */
    one_way: passSchema.nullable(),
    /** The same in every invocation in which they were counted. */
    is_repeatable: z.boolean(),
  }),
  /** From nothing to a session that is ready, with the bytes of connections that are opened when they are first used; `ms` is without those. */
  setup: z.object({
    sent_bytes: amount,
    received_bytes: amount,
    connections: amount,
    messages: amount,
    ms: amount,
    samples_ms: z.array(amount),
    /** Messages that were waited for one after the other, and the handshakes of TCP and TLS; null where that is not known. */
    round_trips_at_most: amount,
    /** Exchanges after which a set-up that takes more than the baseline's is paid back; 0 at once, null never. */
    paid_back_bytes: amount.nullable(),
    paid_back_time: amount.nullable(),
  }),
  /** An exchange, one at a time: medians over rounds. */
  cpu_us: z.object({ client: cpuSchema, server: cpuSchema, sum: amount }),
  /** At the fixed rate, since each should have begun; percentiles that the sample cannot hold are null. */
  latency_us: z
    .object({
      n: z.int().positive(),
      p50: amount,
      p99: amount.nullable(),
      p999: amount.nullable(),
      /** By how much the load was late itself, at worst. */
      late: amount,
      /** Evenly from all rounds, so that two modes can be seen. */
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
  /** What verdicts are made of, an invocation a list. */
  samples: z.object({ latency_us: samples, cpu_us: samples, saturated_us: samples }),
  vs_baseline: pairVerdictsSchema.extend({ bytes_ratio: z.number().positive() }).nullable(),
});

/** What a model reads; of everything around it on the wire it reads nothing. */
const tokensSchema = z.object({
  encoding: z.string(),
  definitions: z.array(z.object({ what: z.string(), items: amount, bytes: amount, tokens: amount })),
  /** All payloads of the traffic as results of a tool. */
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
});

const shareSchema = z.object({ ratio: z.number().positive(), low: amount, high: unbounded });

/** Of an arm's difference from the baseline, what is protocol, transport, implementation and setting: factors that multiply. */
const attributionSchema = z.object({
  arm: z.string(),
  figure: z.enum(['latency_us', 'cpu_us', 'saturated_us']),
  /** `exact`: every combination was measured; `ordered`: shares are what changes add in the orders that were measured. */
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
  /** What measures it again, as it was typed; null in files of before it was kept. */
  command: z.string().nullable().default(null),
  /** Where the traffic comes from, and what it is. */
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
  /** What the machine did meanwhile, an invocation of all arms an element. */
  machine: z.array(
    z.object({
      load: amount,
      steal_ms: amount.nullable(),
      throttled_ms: amount.nullable(),
      available_bytes: amount,
    }),
  ),
  /** What was wrong with it. */
  warnings: z.array(z.string()).max(20),
  rate_per_s: z.number().positive(),
  baseline: z.string(),
  /** The baseline against itself, as one more arm of the same rounds: a check that is reported and vetoes nothing. */
  null_test: pairVerdictsSchema,
  arms: z.array(armSchema).min(1).max(100),
  tokens: tokensSchema,
  /** Where more than one factor changes between the baseline and an arm. */
  attributions: z.array(attributionSchema).max(400),
  /** What was asked for and is not there, with reasons. */
  left_out: z.array(z.string()),
  /** What was measured and failed, with reasons. */
  failed: z.array(z.string()),
  invocations: z.int().positive(),
  lost_invocations: amount,
  stopped: z.enum(['invocations', 'budget', 'interrupted']),
});

/** `stacks.json`. Every output is made of it. */
export type StacksFile = z.infer<typeof stacksSchema>;
export type StackArm = StacksFile['arms'][number];

/** Whether the text of a file says of itself that it is a comparison of stacks. */
export function isStacksFile(text: string): boolean {
  // Of what is no JSON, whoever reads it says what is wrong with it.
  return kindSchema.safeParse(tryParseJson(text)).success;
}

/** @throws MeshError `config` for a text that is no comparison of stacks */
export function parseStacks(text: string, where: string): StacksFile {
  const result = stacksSchema.safeParse(parseJsonLine(text, z.unknown(), where));
  if (!result.success) {
    throw new MeshError('config', `${where}: not a comparison of stacks: ${formatIssues(result.error)}`);
  }
  return result.data;
}
