import { messageOf } from '../../core/contracts/errors.ts';
import { HUB_ID, MESH_TYPE_PREFIX, type Packet, shortReason } from '../../core/contracts/packet.ts';

/** A type that no application's packet can have. */
const FAILED = `${MESH_TYPE_PREFIX}failed`;

/** What answers a packet that could not be worked on: failures travel as packets. */
export function failureOf({ id, task_id, to }: Packet, error: unknown): Packet {
  return {
    type: FAILED,
    from: to ?? HUB_ID,
    id: 'failed',
    reply_to: id,
    task_id,
    token_used: 0,
    ts: 0,
    payload: { reason: shortReason(messageOf(error)) },
  };
}

/** The reason, if the packet says that the one before it failed. */
export function failureIn({ type, payload }: Packet): string | undefined {
  return type === FAILED ? String(payload.reason) : undefined;
}
