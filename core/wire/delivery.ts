import * as z from 'zod';
import type { JsonObject } from '../contracts/packet.ts';

/**
 * Delivery guarantees. `at-most-once`: packets under way when a connection ends are lost. `acknowledged`:
 * agreed in the handshake; each side then keeps a packet until the other has confirmed that it need not be
 * sent again:
 *
 *     agent → hub   the agent keeps sent packets in its outbox, on disk (`core/agent/outbox.ts`); the hub
 *                   reports how many packets of this connection it has handed on, or noted for agents that are
 *                   on their way back: `mesh.ack {taken}`, a cumulative acknowledgement
 *     hub → agent   the hub keeps delivered packets in a mailbox for each agent
 *                   (`core/hub/delivery/acknowledged.ts`); the agent reports which are finished and which are in
 *                   progress: `mesh.ack {done?, in_progress?}`
 *
 * When a connection begins again, the hello names the last packet that the hub has from this agent, and the
 * welcome names the packets that the agent has finished. All others are sent again, in order; duplicates are
 * dropped by their id. The hub may be a new process: its knowledge of an agent is the mailbox and the last
 * id.
 */
export const DELIVERIES = ['at-most-once', 'acknowledged'] as const;

const idsSchema = z.array(z.string()).max(1000);

/** An agent's report on packets that were delivered to it, by their ids. */
const receiptSchema = z
  .object({ done: idsSchema.default([]), in_progress: idsSchema.default([]) })
  .transform(({ done, in_progress }) => ({ done, inProgress: in_progress }));
export type Receipt = z.infer<typeof receiptSchema>;

/**
 * Parses a receipt; returns undefined for an invalid one: a broken agent only harms itself, since its packets
 * are sent again.
 */
export function parseReceipt(payload: JsonObject | undefined): Receipt | undefined {
  return receiptSchema.safeParse(payload).data;
}

const takenSchema = z.object({ taken: z.int().nonnegative() });

/** Returns the number of packets of this connection that the hub has taken over. */
export function parseTakenCount(payload: JsonObject): number | undefined {
  return takenSchema.safeParse(payload).data?.taken;
}
