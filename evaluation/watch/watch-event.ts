import * as z from 'zod';

const amount = z.number().nonnegative();
const whole = z.int().nonnegative();
const counts = { packets: whole, bytes: whole, tokens: whole };

/**
 * `n` counts the events of a watch from 1; a gap means that events are no longer kept. `at` is in milliseconds since the watch began, or
 * since the run began if it is over.
 */
const stamp = { n: z.int().positive(), at: amount };

/**
 * Events of a run for its page. A live run sends them as they happen; for a finished run they are built from the archive. Amounts in
 * `totals` are exact; packets are sent individually only at a rate that a person can follow.
 */
export const watchEventSchema = z.discriminatedUnion('kind', [
  /** A run began: the following events belong to it, until the next one begins. */
  z.strictObject({
    ...stamp,
    kind: z.literal('run'),
    run: z.string(),
    team: z.string(),
    adapter: z.string(),
    engine: z.string(),
    agents: z.array(z.strictObject({ id: z.string(), tool: z.string() })),
    /** Number of questions; null if unknown. */
    questions: whole.nullable(),
  }),
  z.strictObject({
    ...stamp,
    kind: z.literal('agent'),
    id: z.string(),
    state: z.enum(['up', 'lost']),
    text: z.string(),
  }),
  z.strictObject({
    ...stamp,
    kind: z.literal('packet'),
    id: z.string(),
    from: z.string(),
    /** Recipient; null for a broadcast. */
    to: z.string().nullable(),
    type: z.string(),
    tag: z.string().optional(),
    task: z.string(),
    bytes: whole,
    tokens: whole,
    /** Number of agents that received it. */
    copies: whole,
  }),
  /** Each event of a question adds to the earlier ones. */
  z.strictObject({
    ...stamp,
    kind: z.literal('question'),
    id: z.string(),
    state: z.enum(['asked', 'answered', 'timeout', 'failed']),
    text: z.string().optional(),
    answer: z.string().optional(),
    /** null if no true answer is known. */
    correct: z.boolean().nullable().optional(),
    seconds: amount.optional(),
    /** null if tokens were not counted. */
    tokens: whole.nullable().optional(),
    /** US dollars; null if a price is unknown. */
    cost: amount.nullable().optional(),
    reason: z.string().optional(),
    cached: z.boolean().optional(),
  }),
  z.strictObject({
    ...stamp,
    kind: z.literal('fault'),
    /** A kind of injected fault, `refused`, or `lost`. */
    what: z.string(),
    text: z.string(),
  }),
  z.strictObject({ ...stamp, kind: z.literal('note'), text: z.string() }),
  /** Progress of a long activity: the share that is done, and the current step. */
  z.strictObject({ ...stamp, kind: z.literal('progress'), share: amount, text: z.string() }),
  /** One more invocation in a comparison. */
  z.strictObject({
    ...stamp,
    kind: z.literal('sample'),
    arm: z.string(),
    /** null if the load was too high. */
    ms: amount.nullable(),
    /** null if this invocation did not count bytes. */
    bytes: whole.nullable(),
  }),
  z.strictObject({
    ...stamp,
    kind: z.literal('totals'),
    ...counts,
    /** Packets that were counted but not sent as events. */
    unshown: whole,
    /** Agents whose counts changed. */
    agents: z.record(z.string(), z.strictObject(counts)),
    /** Number of faults of each kind. */
    faults: z.record(z.string(), whole),
  }),
  z.strictObject({ ...stamp, kind: z.literal('end'), text: z.string() }),
]);

export type WatchEvent = z.infer<typeof watchEventSchema>;
/** An event before it is numbered. */
export type NewEvent<Kind extends WatchEvent['kind'] = WatchEvent['kind']> = Kind extends unknown
  ? Omit<Extract<WatchEvent, { kind: Kind }>, 'n' | 'at'>
  : never;
