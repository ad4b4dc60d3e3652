import { DOC_INIT } from '../../contracts/packet.ts';
import type { AcknowledgedDelivery } from '../../hub/delivery/acknowledged.ts';
import type { FaultyDelivery } from '../../hub/delivery/faulty.ts';
import type { Link } from '../../hub/link.ts';
import type { MeshNetwork } from '../../hub/mesh-network.ts';
import type { LinesByType } from '../../recording/run-record.ts';
import { deliveryDifferences } from './delivery-metrics.ts';
import { faultLines } from './fault-ledger.ts';
import { type RunLedger, runLedger } from './run-ledger.ts';

/** The ledger of all that a hub carried. `decoded`: lines of those who kept no ledger, as the hub read their packets. */
export function networkLedger(
  network: MeshNetwork,
  decoded: ReadonlyMap<Link, LinesByType>,
  acknowledged: AcknowledgedDelivery | undefined,
  faulty: FaultyDelivery | undefined,
  connection: RunLedger['connection'] | undefined,
): RunLedger {
  const links = [...network.formerLinks, ...network.links];
  const { typeCounts, initBytes, ownLine } = network;
  const relayedBytes = [...typeCounts.values()].reduce((sum, { bytes_tx }) => sum + bytes_tx, initBytes);
  const further = acknowledged === undefined ? [] : deliveryDifferences(acknowledged, relayedBytes);
  const { repeated, unwritten } = acknowledged?.counters ?? {};
  const offeredBytes = relayedBytes + (repeated?.bytes ?? 0) - (unwritten?.bytes ?? 0);
  const faults = faulty === undefined ? undefined : faultLines(faulty.counters, links, offeredBytes);
  return runLedger(links, DOC_INIT, ownLine, { decoded, faults, connection, further });
}
