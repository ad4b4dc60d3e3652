import type { Outbox } from '../agent/outbox.ts';

/** Returns a packet for an outbox with its cause. */
export function caused(id: string, text = ''): Outbox['kept'][number] {
  const packet = { type: 'note', from: 'a', id, task_id: 't', token_used: 0, ts: 0, payload: { text } };
  return { packet, cause: `cause of ${id}` };
}
