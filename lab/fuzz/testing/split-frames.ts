import { PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';

/** Splits a whole stream into frames: the simplest reader, which copies everything. */
export function splitFrames(stream: Buffer, maxFrameBytes: number) {
  const blobs: Buffer[] = [];
  let at = 0;
  while (stream.length - at >= PREFIX_BYTES) {
    const length = stream.readUInt32BE(at);
    if (length > maxFrameBytes) return { blobs, isViolated: true, restBytes: 0 };
    if (stream.length - at - PREFIX_BYTES < length) break;
    blobs.push(Buffer.from(stream.subarray(at + PREFIX_BYTES, at + PREFIX_BYTES + length)));
    at += PREFIX_BYTES + length;
  }
  return { blobs, isViolated: false, restBytes: stream.length - at };
}
