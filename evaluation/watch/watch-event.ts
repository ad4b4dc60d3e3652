import * as z from 'zod';

const amount = z.number().nonnegative();
const whole = z.int().nonnegative();
const counts = { packets: whole, bytes: whole, tokens: whole };

/**
 * `n` counts the events of a watch from 1: where it jumps, events are no longer kept. `at` is in milliseconds since the watch began, of a
 * run that is over since the run did.
 */
const stamp = { n: z.int().positive(), at: amount };

/**
 * What the page of a run is told, whether the run is on or over: a run that is on tells it as it happens, and of one that is over it is
 * made from the archive. Amounts in `totals` are exact; packets are told one by one only as far as somebody can look at them.
 */
export const watchEventSchema = z.discriminatedUnion('kind', [
  /** A run began: what follows is of this run, until the next one begins. */
  z.strictObject({
    ...stamp,
    kind: z.literal('run'),
    run: z.string(),
    team: z.string(),
    adapter: z.string(),
    engine: z.string(),
    agents: z.array(z.strictObject({ id: z.string(), tool: z.string() })),
    /** How many there will be; null where nobody knows. */
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
    /** null: to all others. */
    to: z.string().nullable(),
    type: z.string(),
    tag: z.string().optional(),
    task: z.string(),
    bytes: whole,
    tokens: whole,
    /** Agents that it was delivered to. */
    copies: whole,
  }),
  /** What is said of a question adds to what was said of it before. */
  z.strictObject({
    ...stamp,
    kind: z.literal('question'),
    id: z.string(),
    state: z.enum(['asked', 'answered', 'timeout', 'failed']),
    text: z.string().optional(),
    answer: z.string().optional(),
    /** null where no true answer is known. */
    correct: z.boolean().nullable().optional(),
    seconds: amount.optional(),
    /** null where nobody counted. */
    tokens: whole.nullable().optional(),
    /** US dollars; null where a price is not known. */
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
  /** How far something is that takes long: a share of it, and what is done just now. */
  z.strictObject({ ...stamp, kind: z.literal('progress'), share: amount, text: z.string() }),
  /** One more invocation of something that is compared. */
  z.strictObject({
    ...stamp,
    kind: z.literal('sample'),
    arm: z.string(),
    /** null where the load was too much to say. */
    ms: amount.nullable(),
    /** null where this invocation did not count them. */
    bytes: whole.nullable(),
  }),
  z.strictObject({
    ...stamp,
    kind: z.literal('totals'),
    ...counts,
    /** Packets that were counted and are not among the events. */
    unshown: whole,
    /** Those of which something changed. */
    agents: z.record(z.string(), z.strictObject(counts)),
    /** How often each kind of fault struck. */
    faults: z.record(z.string(), whole),
  }),
  z.strictObject({ ...stamp, kind: z.literal('end'), text: z.string() }),
]);

export type WatchEvent = z.infer<typeof watchEventSchema>;
/** An event before it has its place among the others. */
export type NewEvent<Kind extends WatchEvent['kind'] = WatchEvent['kind']> = Kind extends unknown
  ? Omit<Extract<WatchEvent, { kind: Kind }>, 'n' | 'at'>
  : never;
