import type { FaultCounters } from '../../hub/faults/fault-counters.ts';
import type { Link } from '../../hub/link.ts';
import type { RunMetrics } from './metrics-schema.ts';

/** The lines of the ledger that only a run with faults has: from what the relay offered to what the sockets wrote. */
export type FaultLines = NonNullable<RunMetrics['ledger']['faults']>;

/** The lines, and where they do not sum. `offeredBytes` is what the relay counted, copy by copy. */
export function faultLines(
  books: FaultCounters,
  links: readonly Link[],
  offeredBytes: number,
): { readonly lines: FaultLines; readonly differences: string[] } {
  const { offered, delivered, dropped, partitioned, undeliverable, duplicated } = books.total;
  const differences: string[] = [];
  const expect = (what: string, expected: number, found: number) => {
    if (expected !== found) differences.push(`faults: ${what}: expected ${expected}, found ${found}`);
  };
  expect('bytes that the relay offered', offeredBytes, offered.bytes);
  for (const id of new Set(links.map((link) => link.node.id))) {
    const book = books.of(id);
    const own = links.filter((link) => link.node.id === id);
    for (const [unit, written] of [
      ['packets', own.reduce((sum, { counts }) => sum + counts.packetsTx, 0)],
      ['bytes', own.reduce((sum, { counts }) => sum + counts.bytesTx, 0)],
    ] as const) {
      const fates = [book.delivered, book.dropped, book.partitioned, book.undeliverable];
      const accounted = fates.reduce((sum, volume) => sum + volume[unit], 0);
      expect(`${unit} offered to agent ${id}`, book.offered[unit], accounted);
      expect(`${unit} written to agent ${id}`, book.delivered[unit] + book.duplicated[unit], written);
    }
  }
  const unsentBytes = links.reduce((sum, link) => sum + unsentOf(link), 0);
  if (unsentBytes < 0) differences.push(`faults: the sockets wrote ${-unsentBytes} bytes that nobody booked`);
  const lines = { offered, delivered, dropped, partitioned, undeliverable, duplicated };
  return { lines: { ...lines, unsent_bytes: unsentBytes }, differences };
}

/** A connection that is up takes everything: a difference there is the ledger's own to report. */
function unsentOf({ alive, counts, socket }: Link): number {
  return alive ? 0 : counts.bytesTx + counts.sessionTx + counts.ackTx - socket.bytesWritten;
}
