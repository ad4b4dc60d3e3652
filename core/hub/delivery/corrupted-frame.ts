import { PREFIX_BYTES } from '../../wire/frame.ts';

/** A copy with one bit of the blob turned over. The length in front stays, or the connection would go with the packet. */
export function corruptFrame(frame: Buffer, at: number): Buffer {
  const copy = Buffer.from(frame);
  const bit = Math.floor(at * (copy.length - PREFIX_BYTES) * 8);
  const index = PREFIX_BYTES + (bit >>> 3);
  copy[index] = (copy[index] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
