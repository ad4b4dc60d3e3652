import { addLine, createLedgerLine, type LedgerLine } from '../../contracts/ledger.ts';
import { findOrAddEntry } from '../../contracts/others.ts';
import { DOC_INIT } from '../../contracts/packet.ts';
import type { AcknowledgedDelivery } from '../../hub/delivery/acknowledged.ts';
import type { FaultCounters } from '../../hub/faults/fault-counters.ts';
import type { Link } from '../../hub/link.ts';
import type { MeshNetwork } from '../../hub/mesh-network.ts';
import type { LinesByType } from '../../recording/run-record.ts';
import type { RunMetrics } from './metrics-schema.ts';

/**
 * The ledger of a run. Bytes of packets are on the lines of `types` (each packet once, as its sender wrote
 * it); the totals that the hub wrote and read stand beside them, and must equal the operating system's
 * counts.
 */
export type RunLedger = RunMetrics['ledger'];

type Carried = Pick<MeshNetwork, 'links' | 'formerLinks' | 'ownLine' | 'typeCounts' | 'initBytes'>;

interface LedgerSources {
  /** Lines of agents that handed in no ledger, as the hub decoded their packets. */
  readonly decoded?: ReadonlyMap<Link, LinesByType> | undefined;
  /** The acknowledged delivery and the fault counters, if the run has them. */
  readonly acknowledged?: Pick<AcknowledgedDelivery, 'counters'> | undefined;
  readonly faults?: FaultCounters | undefined;
  /** Bytes of the transport's own connection, if it has one. */
  readonly connection?: RunLedger['connection'] | undefined;
}

/** Joins the hub's counts with the senders' ledgers and the sockets' bytes. */
export function buildRunLedger(
  network: Carried,
  { decoded, acknowledged, faults, connection }: LedgerSources = {},
): RunLedger {
  const { ownLine, typeCounts, initBytes } = network;
  const links = [...network.formerLinks, ...network.links];
  const relayedBytes = [...typeCounts.values()].reduce((sum, { bytes_tx }) => sum + bytes_tx, initBytes);
  const differences: string[] = [];
  const faultLines =
    faults && buildFaultLines(faults, links, sumOfferedBytes(relayedBytes, acknowledged), differences);
  if (acknowledged !== undefined) checkMailboxes(acknowledged, relayedBytes, differences);
  const types = new Map<string, LedgerLine>();
  const total = createLedgerLine();
  const written = { packets: 0, session: 0, acks: 0, sockets: 0 };
  const read = { packets: 0, session: 0, acks: 0, refused: 0, torn: 0, repeated: 0, sockets: 0 };
  let unbooked = 0;
  const book = (type: string, line: LedgerLine) => {
    addLine(findOrAddEntry(types, type, createLedgerLine), line);
    addLine(total, line);
  };
  if (ownLine.packets > 0) book(DOC_INIT, ownLine);
  for (const link of links) {
    const { counts, socket, ledgerReport: report, node } = link;
    written.packets += counts.bytesTx;
    written.session += counts.sessionTx;
    written.acks += counts.ackTx;
    written.sockets += socket.bytesWritten;
    read.packets += counts.bytesRx;
    read.session += counts.sessionRx;
    read.acks += counts.ackRx;
    read.refused += counts.refusedBytes;
    read.repeated += counts.repeatedBytes;
    read.sockets += socket.bytesRead;
    const expect = (what: string, ours: number, theirs: number) => {
      if (ours !== theirs)
        differences.push(
          `agent ${node.id} (${node.tool}): ${what}: the hub has ${ours}, the other side ${theirs}`,
        );
    };
    const { bytesRx, sessionRx, ackRx, refusedBytes, repeatedBytes } = counts;
    const readBytes = bytesRx + sessionRx + ackRx + refusedBytes + repeatedBytes;
    if (link.alive) {
      expect('bytes written', counts.bytesTx + counts.sessionTx + counts.ackTx, socket.bytesWritten);
      // The run may end while an agent is in the middle of a frame.
      expect('bytes read', readBytes + socket.pendingBytes, socket.bytesRead);
      read.torn += socket.pendingBytes;
    } else {
      read.torn += socket.bytesRead - readBytes;
    }
    if (report === undefined) {
      if (link.alive && link.hasLedger)
        differences.push(`agent ${node.id} (${node.tool}) handed in no ledger`);
      unbooked += counts.bytesRx;
      for (const [type, line] of decoded?.get(link) ?? []) {
        book(type, line);
        unbooked -= line.wire;
      }
      continue;
    }
    const sent = createLedgerLine();
    for (const { type, line } of report.sent) {
      addLine(sent, line);
      book(type, line);
    }
    expect(
      'packets from it',
      counts.packetsRx + counts.refusedPackets + counts.repeatedPackets,
      sent.packets,
    );
    expect('bytes from it', bytesRx + refusedBytes + repeatedBytes, sent.wire);
    expect('packets to it', counts.packetsTx, report.received.packets + report.refused.packets);
    expect('bytes to it', counts.bytesTx, report.received.bytes + report.refused.bytes);
  }
  const parts = total.framing + total.envelope + total.payload + total.payload_coding + total.layers;
  if (parts !== total.wire) differences.push(`the lines sum to ${parts} bytes, the packets to ${total.wire}`);
  return {
    balanced: differences.length === 0,
    differences,
    types: Object.fromEntries(types),
    total,
    unbooked_bytes: unbooked,
    written,
    read,
    connection,
    faults: faultLines,
  };
}

/**
 * Sums the bytes of the deliveries below the mailboxes: those of the relay and the repeated ones, without
 * those that were never written.
 */
function sumOfferedBytes(relayedBytes: number, acknowledged: LedgerSources['acknowledged']): number {
  const { repeated, unwritten } = acknowledged?.counters ?? {};
  return relayedBytes + (repeated?.bytes ?? 0) - (unwritten?.bytes ?? 0);
}

/**
 * Builds the lines that only a run with faults has: from the offered deliveries, copy by copy, to the bytes
 * that the sockets wrote.
 */
function buildFaultLines(
  counters: FaultCounters,
  links: readonly Link[],
  offeredBytes: number,
  differences: string[],
): NonNullable<RunLedger['faults']> {
  const { offered, delivered, dropped, undeliverable, duplicated } = counters.total;
  const expect = (what: string, expected: number, found: number) => {
    if (expected !== found) differences.push(`faults: ${what}: expected ${expected}, found ${found}`);
  };
  expect('bytes that the relay offered', offeredBytes, offered.bytes);
  for (const [id, own] of Map.groupBy(links, ({ node }) => node.id)) {
    const ofAgent = counters.of(id);
    for (const [unit, written] of [
      ['packets', own.reduce((sum, { counts }) => sum + counts.packetsTx, 0)],
      ['bytes', own.reduce((sum, { counts }) => sum + counts.bytesTx, 0)],
    ] as const) {
      const fates = [ofAgent.delivered, ofAgent.dropped, ofAgent.undeliverable];
      const accounted = fates.reduce((sum, volume) => sum + volume[unit], 0);
      expect(`${unit} offered to agent ${id}`, ofAgent.offered[unit], accounted);
      expect(`${unit} written to agent ${id}`, ofAgent.delivered[unit] + ofAgent.duplicated[unit], written);
    }
  }
  const unsentBytes = links.reduce((sum, link) => sum + countUnsentBytes(link), 0);
  if (unsentBytes < 0) differences.push(`faults: the sockets wrote ${-unsentBytes} bytes that no ledger has`);
  const lines = { offered, delivered, dropped, undeliverable, duplicated };
  return { ...lines, unsent_bytes: unsentBytes };
}

/**
 * Counts bytes that a lost connection never sent; on a live connection any difference is the ledger's to
 * report.
 */
function countUnsentBytes({ alive, counts, socket }: Link): number {
  return alive ? 0 : counts.bytesTx + counts.sessionTx + counts.ackTx - socket.bytesWritten;
}

/** Checks that the mailboxes' counts balance and equal the relay's, copy by copy. */
function checkMailboxes(
  { counters }: Pick<AcknowledgedDelivery, 'counters'>,
  relayedBytes: number,
  differences: string[],
): void {
  const { noted, acknowledged, undeliverable, waiting } = counters;
  const accounted = acknowledged.packets + undeliverable.packets + waiting;
  if (noted.packets !== accounted)
    differences.push(
      `deliveries: ${noted.packets} noted, ${accounted} acknowledged, undeliverable or waiting`,
    );
  if (noted.bytes !== relayedBytes)
    differences.push(`deliveries: the relay counted ${relayedBytes} bytes, ${noted.bytes} were noted`);
}
