import * as z from 'zod';

const amount = z.number().nonnegative();
const whole = z.int().nonnegative();

/** The use of resources by an attempt, which the cache keeps beside its answer. */
export const answerUseSchema = z.strictObject({
  tokens: whole.nullable().describe("tokens; null where a model's server did not say"),
  cost: amount.nullable().describe('US dollars; null where a price is not known'),
  packets: whole.describe('packets that agents sent'),
  bytes: whole.describe('bytes of packets, read and written by the hub'),
  seconds: amount.describe('seconds from the question to the answer'),
});
