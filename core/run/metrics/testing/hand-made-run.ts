import type { LedgerLine } from '../../../contracts/ledger.ts';
import { MESH_TYPES } from '../../../contracts/packet.ts';
import { Link, type LinkCounts } from '../../../hub/link.ts';
import { plain } from '../../../testing/mesh.ts';
import type { FrameLink } from '../../../wire/frame-link.ts';
import type { LedgerReport } from '../../../wire/ledger-report.ts';

/** A line of one packet: four bytes of length, `payload` bytes that it says, and ten around them. */
export const lineOf = (payload: number): LedgerLine => ({
  packets: 1,
  wire: payload + 14,
  payload,
  framing: 4,
  envelope: 7,
  payload_coding: 2,
  layers: 1,
  header_size: 12,
  net: 14,
});

interface HandMade {
  readonly counts: Partial<LinkCounts>;
  readonly socket: { bytesWritten: number; bytesRead: number; pendingBytes: number };
  readonly emits?: readonly string[];
}

/** A link that carries nothing: its counts are written by hand. Its tool has the agent's name. */
export function linkTo(id: string, { counts, socket, emits = [MESH_TYPES.ledger] }: HandMade): Link {
  const node = { id, tool: `${id}s`, port: 0, secret: '' };
  const none = { linkKey: new Uint8Array(32), runKey: new Uint8Array(32), offers: new Map() };
  const codec = plain.open({ runId: 'test', self: 'hub', peer: id, ...none });
  const said = { subscribes: [], emits, done: [] };
  const link = new Link(node, socket as unknown as FrameLink, () => codec, said);
  Object.assign(link.counts, counts);
  return link;
}

export function booksOf(
  sent: readonly (readonly [type: string, line: LedgerLine])[],
  received: { packets: number; bytes: number },
): LedgerReport {
  return {
    sent: sent.map(([type, line]) => ({ type, line, tool_us: 0, encode_us: 0 })),
    received: { ...received, decode_us: 0 },
    refused: { packets: 0, bytes: 0 },
  };
}

/**
 * A run by hand: the hub sends the document (100 bytes) to `a`, which sends a note (24 bytes), which the hub
 * forwards to `b`, which sends the answer (34 bytes).
 */
export function handMadeRun() {
  const sockets = {
    a: { bytesWritten: 146, bytesRead: 59, pendingBytes: 0 },
    b: { bytesWritten: 28, bytesRead: 37, pendingBytes: 0 },
  };
  const sessionOfA = { sessionTx: 40, ackTx: 6, sessionRx: 30, ackRx: 5 };
  const a = linkTo('a', {
    counts: { packetsTx: 1, bytesTx: 100, packetsRx: 1, bytesRx: 24, ...sessionOfA },
    socket: sockets.a,
  });
  const b = linkTo('b', {
    counts: { packetsTx: 1, bytesTx: 24, sessionTx: 4, packetsRx: 1, bytesRx: 34, sessionRx: 3 },
    socket: sockets.b,
  });
  const books = {
    a: booksOf([['note', lineOf(10)]], { packets: 1, bytes: 100 }),
    b: booksOf([['data_event', lineOf(20)]], { packets: 1, bytes: 24 }),
  };
  a.ledgerReport = books.a;
  b.ledgerReport = books.b;
  const formerLinks: Link[] = [];
  const note = { packets: 1, bytes_rx: 24, bytes_tx: 24, tokens: 0 };
  const answer = { packets: 1, bytes_rx: 34, bytes_tx: 0, tokens: 0 };
  const network = {
    links: [a, b],
    formerLinks,
    ownLine: lineOf(86),
    typeCounts: new Map([
      ['note', note],
      ['data_event', answer],
    ]),
    initBytes: 100,
  };
  return { network, a, b, books, sockets, note };
}
