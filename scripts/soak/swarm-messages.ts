import * as z from 'zod';

/** What the launcher of synthetic agents and the process that hosts them say to each other, over the process's channel. */
export const orderSchema = z.discriminatedUnion('kind', [
  /** Sessions send from now on, as fast as the hub takes it, those that begin later too. */
  z.object({
    kind: z.literal('flood'),
    seed: z.int(),
    brokenRate: z.number(),
    pauseMs: z.number(),
    ahead: z.number(),
  }),
  /** Sessions stop sending and say what they have sent. */
  z.object({ kind: z.literal('quiet') }),
  /** An agent reads nothing for so long. */
  z.object({ kind: z.literal('doze'), agent: z.string(), ms: z.number() }),
]);
export type Order = z.infer<typeof orderSchema>;

export const newsSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), ports: z.record(z.string(), z.int().positive()) }),
  /** `sent` counts the packets of the session that an agent is in; null for one that is in none. */
  z.object({ kind: z.literal('quiet'), sent: z.record(z.string(), z.int().nullable()), rss: z.int() }),
  /** An agent saw what must not be: a packet missing, twice or out of order. */
  z.object({ kind: z.literal('violation'), agent: z.string(), message: z.string() }),
]);
export type News = z.infer<typeof newsSchema>;
