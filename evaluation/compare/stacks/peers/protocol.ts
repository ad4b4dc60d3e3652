import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { IMPLEMENTATIONS } from '@gaia-mesh/stacks/contract/stack.ts';
import { amount, wireSchema } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import * as z from 'zod';

/**
 * Messages between a comparison and the processes of two ends over their channels. Each command is answered once, by its number; commands
 * to one process are sent one after the other.
 */

/** Maximum exchanges of a process. They include the documents of a recording, so they take a few megabytes. */
const MAX_EXCHANGES = 2000;
const MAX_REPLIES = 256;
/** Maximum times in one answer: 20 s at a thousand exchanges a second. */
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
  implementation: z.enum(IMPLEMENTATIONS),
  /** Implementation of the server, if it is another one than the client's. */
  server: z.enum(IMPLEMENTATIONS).optional(),
  /** The user's file that exports the stack; undefined for a built-in stack. */
  file: z.string().optional(),
});
/** Reference to a stack across processes. */
export type StackRef = z.infer<typeof stackRefSchema>;

const settingsSchema = z.strictObject({
  tls: z.strictObject({ key: z.string(), cert: z.string() }).nullable(),
  connections: z.int().positive(),
  keepAliveMs: z.number().nonnegative(),
  deadlineMs: z.number().positive(),
  countsBytes: z.boolean().optional(),
  advertisedPort: z.int().positive().optional(),
});

export const exchangesSchema = z
  .array(
    z.strictObject({ request: packetSchema, replies: z.array(packetSchema).max(MAX_REPLIES).readonly() }),
  )
  .min(1)
  .max(MAX_EXCHANGES)
  .readonly();
/** A request and its replies, independent of the nodes. */
export interface PlannedExchange {
  readonly request: Packet;
  readonly replies: readonly Packet[];
}

const loadSchema = z.discriminatedUnion('kind', [
  /** A closed load: each exchange begins when one of `concurrency` running ones ends; the load ends early after `maxMs`. */
  z.strictObject({
    kind: z.literal('closed'),
    count: z.int().positive().max(MAX_TIMES),
    concurrency: z.int().positive().max(MAX_CONCURRENCY),
    maxMs: z.number().positive().max(MAX_LOAD_MS),
  }),
  /** An open load: exchanges begin at fixed times, whether or not earlier ones have ended. */
  z.strictObject({
    kind: z.literal('open'),
    count: z.int().positive().max(MAX_TIMES),
    ratePerS: z.number().positive(),
    /** Milliseconds after which no further exchange begins; by default all of them do. */
    maxMs: z.number().positive().optional(),
    /** Waiting exchanges at which the load is stopped as too high; by default several hundred. */
    maxWaiting: z.int().positive().optional(),
  }),
]);
export type Load = z.infer<typeof loadSchema>;

const PARTS = ['answered', 'one-way'] as const;
export type Part = (typeof PARTS)[number];

const playSchema = z.strictObject({
  do: z.literal('play'),
  /** Selects the exchanges with an answer, or those without. Each kind is a separate sequence. */
  part: z.enum(PARTS),
  /**
   * Index of the first exchange; null continues after the last load. After the last of n exchanges the first one follows, as number n: the
   * first pass has the recorded ids, each further one has others.
   */
  from: z.int().nonnegative().nullable(),
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
  z.strictObject({ do: z.literal('count') }),
  z.strictObject({ do: z.literal('close') }),
]);
export type Command = z.infer<typeof commandSchema>;
/** A command's own fields. */
export type CommandOf<Name extends Command['do']> = Omit<Extract<Command, { do: Name }>, 'do'>;

const playedSchema = z.strictObject({
  /** Completed exchanges. */
  count: z.int().nonnegative(),
  elapsedMs: amount,
  /** Microseconds of each exchange, in the order in which they began; with an open load, from the due time. */
  timesUs: z.array(amount).max(MAX_TIMES),
  /** Largest delay, in microseconds, with which the load itself began an exchange. */
  lateUs: amount,
  /** True if too many exchanges were waiting: the rate exceeded the capacity of the ends, and the load was stopped. */
  isOverloaded: z.boolean(),
});

const cpuSchema = z.strictObject({ user: amount, system: amount });
/** CPU time, microseconds. */
export type CpuUs = z.infer<typeof cpuSchema>;

const countedSchema = z.strictObject({
  /** Bytes of this process's server or client; null if it has none. */
  server: wireSchema.nullable(),
  client: wireSchema.nullable(),
  /** Packets that reached the server, and unplanned ones among them. */
  arrived: amount,
  strangers: amount,
  cpuUs: cpuSchema,
  /** CPU time of server processes that clients started. */
  startedUs: cpuSchema,
  rssBytes: amount,
});

/** Schemas of the replies to the commands. */
export const replySchemas = {
  serve: z.strictObject({ address: z.string(), port: z.int().optional() }),
  connect: z.strictObject({ ms: amount }),
  play: playedSchema,
  count: countedSchema,
  close: z.strictObject({}),
} satisfies Readonly<Record<Command['do'], z.ZodType>>;
export type Reply<Name extends Command['do']> = z.infer<(typeof replySchemas)[Name]>;

export const answerSchema = z.union([
  z.strictObject({ call: z.int(), value: z.unknown() }),
  z.strictObject({ call: z.int(), failed: z.strictObject({ code: z.string(), message: z.string() }) }),
]);
