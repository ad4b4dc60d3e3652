import type { DeliveryEvent } from '../../hub/delivery/faulty.ts';

/** A line of hub.log about one delivery. */
export function deliveryEntry({ kind, from, to, number, bytes, packet, delayMs }: DeliveryEvent): object {
  const { id, type, task_id } = packet;
  const event = kind === 'undeliverable' ? 'undeliverable' : 'fault';
  const delay = delayMs === undefined ? {} : { delay_ms: delayMs };
  return { event, kind, from, to, number, id, type, task_id, bytes, ...delay };
}
