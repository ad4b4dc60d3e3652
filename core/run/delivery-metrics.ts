import type { AcknowledgedDelivery } from '../hub/delivery/acknowledged-delivery.ts';
import type { Link } from '../hub/link.ts';

/** `delivery` of `metrics.json`: there when deliveries are acknowledged. Each counts packets, copy by copy. */
export interface DeliveryMetrics {
  readonly mode: 'acknowledged';
  /** noted = acknowledged + undeliverable + waiting */
  readonly noted: number;
  readonly acknowledged: number;
  /** For agents that did not come back. */
  readonly undeliverable: number;
  /** Of tasks that had ended before the work for them had. */
  readonly waiting: number;
  /** Delivered again, to agents that came back or since nothing was heard of them. */
  readonly redelivered: number;
  /** Sent again by agents, and dropped by the hub: it had them. */
  readonly dropped: number;
}

export function deliveryMetrics(delivery: AcknowledgedDelivery, links: readonly Link[]): DeliveryMetrics {
  const { noted, acknowledged, undeliverable, repeated, waiting } = delivery.book;
  return {
    mode: 'acknowledged',
    noted: noted.packets,
    acknowledged: acknowledged.packets,
    undeliverable: undeliverable.packets,
    waiting,
    redelivered: repeated.packets,
    dropped: links.reduce((sum, { counts }) => sum + counts.repeatedPackets, 0),
  };
}

/** Where the mailboxes do not sum, or not to what the relay counted, copy by copy. */
export function deliveryDifferences({ book }: AcknowledgedDelivery, offeredBytes: number): string[] {
  const { noted, acknowledged, undeliverable, waiting } = book;
  const accounted = acknowledged.packets + undeliverable.packets + waiting;
  return [
    ...(noted.packets === accounted
      ? []
      : [`deliveries: ${noted.packets} noted, ${accounted} acknowledged, undeliverable or waiting`]),
    ...(noted.bytes === offeredBytes
      ? []
      : [`deliveries: the relay counted ${offeredBytes} bytes, ${noted.bytes} were noted`]),
  ];
}
