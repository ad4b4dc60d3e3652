import type { PacketHead } from '../packet.ts';

/** Counters of packets of one type, as the hub sees them. */
export interface TypeCounts {
  packets: number;
  bytes_rx: number;
  bytes_tx: number;
  tokens: number;
}

/** Adds `packets` of one type, `bytes` together, that were sent on `copies` times each. */
export function countType(
  counts: Map<string, TypeCounts>,
  { type }: PacketHead,
  packets: number,
  tokens: number,
  bytes: number,
  copies: number,
): void {
  let sum = counts.get(type);
  if (sum === undefined) {
    sum = { packets: 0, bytes_rx: 0, bytes_tx: 0, tokens: 0 };
    counts.set(type, sum);
  }
  sum.packets += packets;
  sum.bytes_rx += bytes;
  sum.bytes_tx += bytes * copies;
  sum.tokens += tokens;
}
