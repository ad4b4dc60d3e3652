import { addLine, emptyLine, type LedgerLine } from '../../contracts/ledger.ts';
import { entryOrOthers } from '../../contracts/others.ts';
import type { Link } from '../../hub/link.ts';
import type { LinesByType } from '../../recording/run-record.ts';
import type { FaultLines } from './fault-ledger.ts';
import type { RunMetrics } from './metrics-schema.ts';

/**
 * The ledger of a run. Bytes of packets are on the lines of `types` (each packet once, as its sender wrote it); what the hub wrote and
 * read in all is beside them, and must be what the operating system counted.
 */
export type RunLedger = RunMetrics['ledger'];

interface LedgerSources {
  /** Lines of those who handed in no ledger, as the hub read their packets. */
  readonly decoded?: ReadonlyMap<Link, LinesByType>;
  readonly faults?: { readonly lines: FaultLines; readonly differences: readonly string[] } | undefined;
  /** What carried the frames, where it has a connection of its own. */
  readonly connection?: RunLedger['connection'] | undefined;
  /** Differences that others found. */
  readonly further?: readonly string[];
}

/** Joins what the hub counted with what the senders booked and what the sockets moved. */
export function runLedger(
  links: readonly Link[],
  ownType: string,
  ownLine: LedgerLine,
  { decoded, faults, connection, further = [] }: LedgerSources = {},
): RunLedger {
  const differences: string[] = [...(faults?.differences ?? []), ...further];
  const types = new Map<string, LedgerLine>();
  const total = emptyLine();
  const written = { packets: 0, session: 0, acks: 0, sockets: 0 };
  const read = { packets: 0, session: 0, acks: 0, refused: 0, torn: 0, repeated: 0, sockets: 0 };
  let unbooked = 0;
  const book = (type: string, line: LedgerLine) => {
    addLine(entryOrOthers(types, type, emptyLine), line);
    addLine(total, line);
  };
  if (ownLine.packets > 0) book(ownType, ownLine);
  for (const link of links) {
    const { counts, socket, books, node } = link;
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
    if (books === undefined) {
      if (link.alive && link.keepsBooks)
        differences.push(`agent ${node.id} (${node.tool}) handed in no books`);
      unbooked += counts.bytesRx;
      for (const [type, line] of decoded?.get(link) ?? []) {
        book(type, line);
        unbooked -= line.wire;
      }
      continue;
    }
    const sent = emptyLine();
    for (const { type, line } of books.sent) {
      addLine(sent, line);
      book(type, line);
    }
    expect(
      'packets from it',
      counts.packetsRx + counts.refusedPackets + counts.repeatedPackets,
      sent.packets,
    );
    expect('bytes from it', bytesRx + refusedBytes + repeatedBytes, sent.wire);
    expect('packets to it', counts.packetsTx, books.received.packets + books.refused.packets);
    expect('bytes to it', counts.bytesTx, books.received.bytes + books.refused.bytes);
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
    ...(connection === undefined ? {} : { connection }),
    ...(faults === undefined ? {} : { faults: faults.lines }),
  };
}
