import { expect, test } from 'vitest';
import { FrameReader, frameOf } from './frame.ts';
import { SLAB_BYTES, SMALL_SLAB_BYTES } from './slab.ts';

test('many connections read into less memory each, until they are few again', () => {
  const readers = Array.from({ length: 40 }, () => new FrameReader(SLAB_BYTES, () => 'done'));
  const sizes = () => new Set(readers.map((reader) => reader.space().buffer.byteLength));
  expect(sizes()).toEqual(new Set([SLAB_BYTES, SMALL_SLAB_BYTES]));
  // The first ones began when there were few.
  for (const reader of readers) reader.push(frameOf(Buffer.from('x')));
  expect(sizes()).toEqual(new Set([SMALL_SLAB_BYTES]));

  for (const reader of readers.splice(8)) {
    reader.end();
    // However often it is said.
    reader.end();
  }
  for (const reader of readers) reader.push(frameOf(Buffer.alloc(2 * SMALL_SLAB_BYTES)));
  expect(sizes()).toEqual(new Set([SLAB_BYTES]));
});
