import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES } from '../contracts/limits.ts';
import { encodeFrame, FrameReader, type FrameRun, PREFIX_BYTES } from './frame.ts';
import { SLAB_BYTES } from './slab.ts';

const LIMIT = 1024 * 1024;

/** A reader that takes what it gets, and the blobs that it got, as text. */
function collector(maxFrameBytes = LIMIT) {
  const blobs: string[] = [];
  const reader = new FrameReader(maxFrameBytes, (run) => {
    for (const blob of run.copies()) blobs.push(blob.toString('latin1'));
  });
  return { reader, blobs };
}

/** The bytes of the frames of a run. */
function framesIn(run: FrameRun): Buffer[] {
  const frames: Buffer[] = [];
  while (run.next()) frames.push(run.slab.bytes.subarray(run.start - PREFIX_BYTES, run.end));
  return frames;
}

describe('encodeFrame', () => {
  it('writes a big-endian length and the bytes (MP-20)', () => {
    expect(encodeFrame(Buffer.from('abc')).toString('hex')).toBe('00000003616263');
    expect(encodeFrame(new Uint8Array(0)).toString('hex')).toBe('00000000');
    expect(encodeFrame(new Uint8Array(0x010203)).subarray(0, PREFIX_BYTES).toString('hex')).toBe('00010203');
  });
});

describe('FrameReader', () => {
  const stream = Buffer.concat(
    ['first', '', 'x', 'the last one'].map((text) => encodeFrame(Buffer.from(text))),
  );
  const expected = ['first', '', 'x', 'the last one'];

  it('finds all frames of one chunk in one run', () => {
    const runs: number[] = [];
    const reader = new FrameReader(LIMIT, (run) => {
      runs.push([...run.blobs()].length);
    });
    reader.push(stream);
    expect(runs).toEqual([4]);
    expect(reader.pendingBytes).toBe(0);
  });

  it('drops what its receiver leaves, and goes on', () => {
    const taken: string[] = [];
    const reader = new FrameReader(LIMIT, (run) => {
      taken.push(run.next() ? Buffer.from(run.blob).toString('latin1') : 'none');
    });
    reader.push(stream);
    reader.push(stream.subarray(0, -1));
    reader.push(stream.subarray(-1));
    expect(taken).toEqual(['first', 'first', 'the last one']);
    expect(reader.pendingBytes).toBe(0);
  });

  it('finds the same frames wherever the stream is split (MP-20)', () => {
    for (let split = 0; split <= stream.length; split++) {
      const { reader, blobs } = collector();
      reader.push(stream.subarray(0, split));
      reader.push(stream.subarray(split));
      expect(blobs, `split at ${split}`).toEqual(expected);
    }
  });

  it('knows how much of a torn frame has come', () => {
    const { reader, blobs } = collector();
    reader.push(stream.subarray(0, stream.length - 1));
    expect(blobs).toEqual(expected.slice(0, 3));
    expect(reader.pendingBytes).toBe(PREFIX_BYTES + 'the last on'.length);
  });

  it('takes a frame of the largest size and refuses one that is a byte longer', () => {
    const { reader, blobs } = collector(100);
    reader.push(encodeFrame(Buffer.alloc(100, 'x')));
    expect(blobs).toEqual(['x'.repeat(100)]);
    expect(() => reader.push(encodeFrame(Buffer.alloc(101)))).toThrow(
      expect.objectContaining({ code: 'frame', message: expect.stringContaining('101 bytes: at most 100') }),
    );
  });

  it('refuses an over-long frame by its length alone', () => {
    const { reader } = collector(100);
    reader.push(Buffer.from([0, 0, 0]));
    expect(() => reader.push(Buffer.of(101))).toThrow(expect.objectContaining({ code: 'frame' }));
  });

  it('takes longer frames once its limit is raised', () => {
    const { reader, blobs } = collector(100);
    reader.maxFrameBytes = 200;
    reader.push(encodeFrame(Buffer.alloc(200)));
    expect(blobs).toHaveLength(1);
  });

  it('takes no memory for a length of 4 GiB, only for bytes that came', () => {
    const { reader } = collector(0xffff_ffff);
    const before = process.memoryUsage().arrayBuffers;
    reader.push(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    for (let i = 0; i < 64; i++) reader.push(Buffer.alloc(1024));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
    expect(reader.pendingBytes).toBe(PREFIX_BYTES + 64 * 1024);
    expect(reader.space().length).toBeLessThanOrEqual(SLAB_BYTES);
  });

  it('takes at most four times the memory of what came of a large frame', () => {
    const { reader } = collector(MAX_FRAME_BYTES);
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(MAX_FRAME_BYTES);
    reader.push(Buffer.concat([prefix, Buffer.alloc(SLAB_BYTES)]));
    expect(reader.pendingBytes).toBe(PREFIX_BYTES + SLAB_BYTES);
    expect(reader.heldBytes).toBeLessThanOrEqual(4 * reader.pendingBytes);
  });

  it.each([255, 256, 260, 1024, 5000])('delivers a frame of %i KiB whole, and small ones after it', (kib) => {
    const blobs: Buffer[] = [];
    const reader = new FrameReader(8 * LIMIT, (run) => {
      blobs.push(...run.copies());
    });
    const large = Buffer.alloc(kib * 1024, 'large');
    const bytes = Buffer.concat([stream, encodeFrame(large), stream]);
    for (let at = 0; at < bytes.length; at += 60_000) reader.push(bytes.subarray(at, at + 60_000));
    expect(blobs).toHaveLength(9);
    expect(blobs[4]?.equals(large)).toBe(true);
    expect(blobs.slice(5).map(String)).toEqual(expected);
    expect(reader.space().length, 'gives the memory of a large frame back').toBeLessThanOrEqual(SLAB_BYTES);
  });

  it.each([
    ['done', 1],
    ['held', 0],
    ['held', 1],
  ])('gives the memory of a large frame back when it is %s and %i bytes more came with it', (use, more) => {
    const reader = new FrameReader(64 * LIMIT, ({ slab }) => {
      if (use === 'held') slab.hold();
    });
    const bytes = Buffer.concat([encodeFrame(Buffer.alloc(16 * LIMIT)), Buffer.alloc(more)]);
    for (let at = 0; at < bytes.length; ) {
      const count = bytes.copy(reader.space(), 0, at);
      reader.received(count);
      at += count;
    }
    expect(reader.pendingBytes).toBe(more);
    expect(reader.heldBytes).toBeLessThanOrEqual(SLAB_BYTES);
  });

  it('reads nothing of the next frame into the memory of a large one', () => {
    const { reader, blobs } = collector(8 * LIMIT);
    const large = encodeFrame(Buffer.alloc(LIMIT));
    for (let at = 0; at < large.length; ) {
      const space = reader.space();
      expect(at + space.length).toBeLessThanOrEqual(Math.max(SLAB_BYTES, large.length));
      const count = large.copy(space, 0, at);
      reader.received(count);
      at += count;
    }
    expect(blobs).toHaveLength(1);
    expect(reader.pendingBytes).toBe(0);
  });

  it('always has room, and less than a slab held when all is done', () => {
    const { reader } = collector(8 * LIMIT);
    const frame = encodeFrame(Buffer.alloc(100_000));
    for (let at = 0; at < frame.length; at += 7000) {
      expect(reader.space().length).toBeGreaterThan(0);
      reader.push(frame.subarray(at, at + 7000));
    }
  });

  /** Sizes around what matters: prefixes, small packets, the free end of a slab, a slab and more. */
  const blobSize = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 600 }) },
    { weight: 2, arbitrary: fc.integer({ min: 10_000, max: 70_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 200_000, max: 600_000 }) },
  );
  const chunkSize = fc.oneof(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 5000 }),
    fc.integer({ min: 10_000, max: 300_000 }),
  );

  it('delivers every byte in order and never writes over a run that is held', () => {
    fc.assert(
      fc.property(
        fc.array(blobSize, { minLength: 1, maxLength: 40 }),
        fc.array(chunkSize, { minLength: 1, maxLength: 50 }),
        fc.array(fc.constantFrom('done', 'held'), { minLength: 1, maxLength: 20 }),
        (blobSizes, chunkSizes, uses) => {
          const sent = Buffer.concat(blobSizes.map((size, i) => encodeFrame(Buffer.alloc(size, i + 1))));
          const held: Buffer[] = [];
          const counts: number[] = [];
          const reader = new FrameReader(LIMIT, (run) => {
            const use = uses[counts.length % uses.length] ?? 'done';
            const frames = framesIn(run);
            counts.push(frames.length);
            for (const frame of frames) held.push(use === 'held' ? frame : Buffer.from(frame));
            if (use === 'held') run.slab.hold();
          });
          for (let at = 0, i = 0; at < sent.length; i++) {
            const size = chunkSizes[i % chunkSizes.length] ?? 1;
            // Bytes come as a socket writes them: into the reader's own space, as many as fit.
            const space = reader.space();
            const count = sent.copy(space, 0, at, Math.min(at + size, at + space.length));
            reader.received(count);
            at += count;
          }
          // Only now: what was written over since would differ.
          expect(held.length).toBe(blobSizes.length);
          expect(Buffer.concat(held).equals(sent)).toBe(true);
          expect(reader.pendingBytes).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});
