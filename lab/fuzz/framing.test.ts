import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FrameReader, PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import { SLAB_BYTES } from '@gaia-mesh/core/wire/slab.ts';
import fc from 'fast-check';
import { Defect, fuzz } from './testing/fuzz.ts';
import { splitFrames } from './testing/split-frames.ts';

/**
 * Maximum frame size: room for more than a slab, and small enough that lengths beyond it are as likely as
 * lengths below.
 */
const MAX_FRAME_BYTES = 600_000;
/**
 * Room for one read. A reader wants a slab if few bytes have come, otherwise twice as much as has come plus
 * this room; it holds at most twice what it wants.
 */
const READ_BYTES = 16 * 1024;

/** A length prefix, and the number of bytes that really follow. */
const stretch = fc.oneof(
  { weight: 8, arbitrary: fc.nat(600).map((length) => ({ length, follow: length })) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 15_000, max: 400_000 }).map((length) => ({ length, follow: length })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      length: fc.oneof(
        fc.constantFrom(0, MAX_FRAME_BYTES, MAX_FRAME_BYTES + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1),
        fc.nat(2 ** 32 - 1),
      ),
      follow: fc.nat(2000),
    }),
  },
);
const chunkBytes = fc.oneof(
  fc.integer({ min: 1, max: 9 }),
  fc.integer({ min: 1, max: 5000 }),
  fc.constant(300_000),
);

const cases = fc.record({
  stretches: fc.array(stretch, { maxLength: 30 }),
  noise: fc.uint8Array({ maxLength: 30 }),
  chunks: fc.array(chunkBytes, { minLength: 1, maxLength: 30 }),
  uses: fc.array(fc.constantFrom('copied', 'held'), { minLength: 1, maxLength: 8 }),
});

/**
 * Any bytes, split anywhere: the reader must find the same frames as a reader of the whole stream, in bounded
 * memory.
 */
fuzz('framing', cases, async () => ({ stretches, noise, chunks, uses }) => {
  const stream = Buffer.concat([...stretches.map(buildFrame), noise]);
  const found: Buffer[] = [];
  let runs = 0;
  const reader = new FrameReader(MAX_FRAME_BYTES, (run) => {
    const use = uses[runs % uses.length] ?? 'copied';
    runs += 1;
    if (use === 'held') run.slab.hold();
    // Held bytes are compared at the end: nothing may have overwritten them.
    for (const blob of run.blobs()) found.push(use === 'held' ? asBuffer(blob) : Buffer.from(blob));
  });
  const fault = feedReader(reader, stream, chunks);
  const wanted = splitFrames(stream, MAX_FRAME_BYTES);
  if (found.length !== wanted.blobs.length) {
    throw new Defect(`${found.length} frames found where there are ${wanted.blobs.length}`, stream);
  }
  found.forEach((blob, i) => {
    if (wanted.blobs[i]?.equals(blob) !== true) throw new Defect(`frame ${i} has other bytes`, stream);
  });
  if ((fault !== undefined) !== wanted.isViolated) {
    throw new Defect(wanted.isViolated ? 'a violation went unseen' : `refused: ${String(fault)}`, stream);
  }
  if (fault === undefined && reader.pendingBytes !== wanted.restBytes) {
    throw new Defect(`${reader.pendingBytes} bytes are pending, not ${wanted.restBytes}`, stream);
  }
});

/**
 * Feeds the reader like a socket: into the reader's own space, as many bytes as fit. Returns the error that
 * ended it, if any.
 */
function feedReader(reader: FrameReader, stream: Buffer, chunks: readonly number[]): MeshError | undefined {
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const space = reader.space();
    if (space.length === 0) throw new Defect('there is no room for the next byte', stream);
    if (reader.heldBytes > 2 * Math.max(SLAB_BYTES, 2 * reader.pendingBytes + READ_BYTES)) {
      throw new Defect(`${reader.heldBytes} bytes held for ${reader.pendingBytes}`, stream);
    }
    const end = Math.min(stream.length, at + (chunks[turn % chunks.length] ?? 1), at + space.length);
    stream.copy(space, 0, at, end);
    try {
      reader.received(end - at);
    } catch (error) {
      if (error instanceof MeshError && error.code === 'frame') return error;
      throw new Defect(`threw no MeshError with code frame, but ${String(error)}`, stream);
    }
    at = end;
  }
  return undefined;
}

function buildFrame({ length, follow }: { readonly length: number; readonly follow: number }): Buffer {
  const frame = Buffer.alloc(PREFIX_BYTES + follow, length % 251);
  frame.writeUInt32BE(length, 0);
  return frame;
}

/** Returns a Buffer over the same bytes. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
