import * as z from 'zod';

const count = z.int().nonnegative();

/** What the load with Node clients tells each of its agents, over the process's channel; all but `begin` are answered. */
export const orderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begin') }),
  /** Say how far you are. */
  z.object({ kind: z.literal('mark') }),
  /** Send no more, and say what you have sent. */
  z.object({ kind: z.literal('stop') }),
  /** So much is to come in all: say what came when it is there, or does not come. */
  z.object({ kind: z.literal('finish'), due: count }),
]);
export type Order = z.infer<typeof orderSchema>;

/** The first word of an agent. `port`: where it listens, 0 if it has dialled. */
export const upSchema = z.object({ port: count });

/** By the agent's own clocks: what it has heard until a time, how long it has slept, and what it has used of a processor. */
export const markSchema = z.object({
  heard: count,
  atMs: z.number(),
  idleMs: z.number(),
  cpuMs: z.number(),
});
export type Mark = z.infer<typeof markSchema>;

export const stoppedSchema = z.object({ sent: count });

export const finishedSchema = z.object({ came: count, bad: count });
