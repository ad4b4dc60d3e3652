import * as z from 'zod';

/** An amount of anything that is counted or timed. */
export const amount = z.number().nonnegative();

const directionSchema = z.strictObject({
  raw: amount,
  tls: amount,
  head: amount,
  body: amount,
  messages: amount,
});

/** Schema of a side's counts (`WireBytes` of `stack.ts`), as one process sends them to another. */
export const wireSchema = z.strictObject({
  connections: amount,
  closed: amount.optional(),
  sent: directionSchema,
  received: directionSchema,
});
