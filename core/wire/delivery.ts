import * as z from 'zod';
import type { JsonObject } from '../contracts/packet.ts';

/**
 * How sure a delivery is. `at-most-once`: what is under way when a connection ends is lost. `acknowledged`: agreed in the handshake;
 * then each side keeps a packet until the other has said that it need not be sent again:
 *
 *     agent → hub   the agent keeps what it sends in its outbox, on disk (`core/agent/outbox.ts`), and the hub says how many packets of
 *                   this connection it has handed on, or noted for those who are on their way back: `mesh.ack {taken}`, a
 *                   cumulative acknowledgement
 *     hub → agent   the hub keeps what it delivers in a mailbox for each agent (`core/hub/delivery/mailbox.ts`), and the agent says which
 *                   are done with, and which are in progress: `mesh.ack {done?, in_progress?}`
 *
 * When a connection begins anew, the hello says the last packet that the hub has from this agent, and the welcome what the agent is
 * done with. All else is sent again, in order; what comes twice is dropped by its id. Nothing here asks that the hub be the process
 * that it was before: what it knows of an agent is in its mailbox and in the last id.
 */
export const DELIVERIES = ['at-most-once', 'acknowledged'] as const;

/** Acknowledgements in both directions: bytes of their own in the ledger. */
export const ACK_TYPE = 'mesh.ack';

const idsSchema = z.array(z.string()).max(1000);

/** What an agent says about packets that were delivered to it, by their ids. */
const receiptSchema = z
  .object({ done: idsSchema.default([]), in_progress: idsSchema.default([]) })
  .transform(({ done, in_progress }) => ({ done, inProgress: in_progress }));
export type Receipt = z.infer<typeof receiptSchema>;

/** Undefined for what is none: a broken agent harms itself alone, its packets are sent again. */
export function parseReceipt(payload: JsonObject | undefined): Receipt | undefined {
  return receiptSchema.safeParse(payload).data;
}

const takenSchema = z.object({ taken: z.int().nonnegative() });

/** How many packets of this connection the hub has taken over. */
export function parseTakenCount(payload: JsonObject): number | undefined {
  return takenSchema.safeParse(payload).data?.taken;
}
