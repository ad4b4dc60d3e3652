import type { AcknowledgedDelivery } from '../../hub/delivery/acknowledged.ts';
import type { Link } from '../../hub/link.ts';
import type { RunMetrics } from './metrics-schema.ts';

/** `delivery` of `metrics.json`: there when deliveries are acknowledged. */
export type DeliveryMetrics = NonNullable<RunMetrics['delivery']>;

export function deliveryMetrics(delivery: AcknowledgedDelivery, links: readonly Link[]): DeliveryMetrics {
  const { noted, acknowledged, undeliverable, repeated, waiting } = delivery.counters;
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
export function deliveryDifferences({ counters }: AcknowledgedDelivery, offeredBytes: number): string[] {
  const { noted, acknowledged, undeliverable, waiting } = counters;
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
