import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { amount, wireSchema } from '@gaia-mesh/stacks/contract/wire-schema.ts';
import * as z from 'zod';

/**
 * What a comparison tells the processes of two ends over their channels, and what they answer. A command is answered once, by its
 * number; commands to one process are given one after the other.
 */

/** Exchanges that a process is told of. The documents of a recording are among them, so a few megabytes. */
const MAX_EXCHANGES = 2000;
const MAX_REPLIES = 256;
/** Times that one answer carries: what 20 s at a thousand exchanges a second give. */
const MAX_TIMES = 20_000;
const MAX_LOAD_MS = 120_000;
const MAX_CONCURRENCY = 256;

const packetSchema = z.unknown().transform((value, context): Packet => {
  try {
    return parsePacket(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: toErrorMessage(error) });
    return z.NEVER;
  }
});

const stackRefSchema = z.strictObject({
  name: z.string().min(1),
  implementation: z.enum(['sdk', 'bare']),
  /** A file of the user's that exports it; without one it is among those that ship. */
  file: z.string().exactOptional(),
});
/** What names a stack across processes. */
export type StackRef = z.infer<typeof stackRefSchema>;

const settingsSchema = z.strictObject({
  tls: z.strictObject({ key: z.string(), cert: z.string() }).nullable(),
  connections: z.int().positive(),
  keepAliveMs: z.number().nonnegative(),
  noDelay: z.boolean(),
  later: z.enum(['hold', 'stream', 'subscribe', 'poll', 'push']),
  pollMs: z.number().positive(),
  history: z.boolean(),
  results: z.enum(['text', 'structured', 'both']),
  deadlineMs: z.number().positive(),
});

export const exchangesSchema = z
  .array(
    z.strictObject({ request: packetSchema, replies: z.array(packetSchema).max(MAX_REPLIES).readonly() }),
  )
  .min(1)
  .max(MAX_EXCHANGES)
  .readonly();
/** What is asked and what answers it, whoever does. */
export interface PlannedExchange {
  readonly request: Packet;
  readonly replies: readonly Packet[];
}

const loadSchema = z.discriminatedUnion('kind', [
  /** So many exchanges, each begun when one of `concurrency` before it is over; ends early after `maxMs`. */
  z.strictObject({
    kind: z.literal('closed'),
    count: z.int().positive().max(MAX_TIMES),
    concurrency: z.int().positive().max(MAX_CONCURRENCY),
    maxMs: z.number().positive().max(MAX_LOAD_MS),
  }),
  /** Exchanges begun at fixed times, whether those before are over or not. */
  z.strictObject({
    kind: z.literal('open'),
    count: z.int().positive().max(MAX_TIMES),
    ratePerS: z.number().positive(),
  }),
]);
export type Load = z.infer<typeof loadSchema>;

const PARTS = ['answered', 'one-way'] as const;
export type Part = (typeof PARTS)[number];

const playSchema = z.strictObject({
  do: z.literal('play'),
  /** Which exchanges: those with an answer, or those without. Each of the two is a sequence of its own. */
  part: z.enum(PARTS),
  /**
   * The exchange to begin with; null for where the last load stopped. After the last of n comes the first again, as number n: ids are
   * those that were recorded in the first pass, others in each further one.
   */
  from: z.int().nonnegative().nullable(),
  /** Packets of a further pass belong to further tasks, or to the same one, which then grows. */
  tasks: z.enum(['new', 'same']),
  load: loadSchema,
});

export const commandSchema = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('serve'),
    stack: stackRefSchema,
    settings: settingsSchema,
    exchanges: exchangesSchema,
    /** Milliseconds that the work for an answer takes. */
    workMs: z.number().nonnegative(),
  }),
  z.strictObject({
    do: z.literal('connect'),
    stack: stackRefSchema,
    settings: settingsSchema,
    address: z.string(),
    exchanges: exchangesSchema,
  }),
  playSchema,
  z.strictObject({
    do: z.literal('count'),
    /** Collects garbage first, so that the heap is what is kept. */
    collect: z.boolean(),
  }),
  z.strictObject({ do: z.literal('close') }),
]);
export type Command = z.infer<typeof commandSchema>;
export type Play = z.infer<typeof playSchema>;

export const servedSchema = z.strictObject({ address: z.string() });
export const connectedSchema = z.strictObject({ ms: amount, wire: wireSchema });

export const playedSchema = z.strictObject({
  /** Exchanges that came to their end. */
  count: z.int().nonnegative(),
  elapsedMs: amount,
  /** Microseconds of each, in the order in which they began; with an open load since they should have begun. */
  timesUs: z.array(amount).max(MAX_TIMES),
  /** Microseconds by which the load itself began them late: the largest. */
  lateUs: amount,
  /** More were under way than anybody waits for: the rate was above what the ends can do, and the load was broken off. */
  isOverloaded: z.boolean(),
});
export type PlayResult = z.infer<typeof playedSchema>;

const cpuSchema = z.strictObject({ user: amount, system: amount });
/** CPU time, microseconds. */
export type CpuUs = z.infer<typeof cpuSchema>;

export const countedSchema = z.strictObject({
  /** Of the server or the client of this process; null for what it has not. */
  server: wireSchema.nullable(),
  client: wireSchema.nullable(),
  /** Packets that came to the server, and those of them that nobody had planned. */
  arrived: amount,
  strangers: amount,
  cpuUs: cpuSchema,
  /** Of the server's processes that clients start. */
  startedUs: cpuSchema,
  rssBytes: amount,
  heapBytes: amount,
});
export type Counted = z.infer<typeof countedSchema>;

export const closedSchema = z.strictObject({});

export const answerSchema = z.union([
  z.strictObject({ call: z.int(), value: z.unknown() }),
  z.strictObject({ call: z.int(), failed: z.strictObject({ code: z.string(), message: z.string() }) }),
]);

export const askedSchema = z.strictObject({ call: z.int(), command: z.unknown() });
