import { expect, test } from 'vitest';
import { encodeFrame, FrameReader } from './frame.ts';
import { SLAB_BYTES, slabs } from './slab.ts';

/** Size of the slabs of many readers. */
const SMALL_BYTES = 68 * 1024;

test('many connections read into less memory each, until they are few again', () => {
  const readers = Array.from({ length: 40 }, () => new FrameReader(SLAB_BYTES, () => undefined));
  const sizes = () => new Set(readers.map((reader) => reader.heldBytes));
  expect(sizes()).toEqual(new Set([SLAB_BYTES, SMALL_BYTES]));
  // The first ones began when there were few.
  for (const reader of readers) reader.push(encodeFrame(Buffer.from('x')));
  expect(sizes()).toEqual(new Set([SMALL_BYTES]));

  for (const reader of readers.splice(8)) {
    reader.end();
    // However often it is said.
    reader.end();
  }
  for (const reader of readers) reader.push(encodeFrame(Buffer.alloc(2 * SMALL_BYTES)));
  expect(sizes()).toEqual(new Set([SLAB_BYTES]));
});

test('the first of many that are expected read into as little as the others', () => {
  slabs.expectReaders(40);
  const first = new FrameReader(SLAB_BYTES, () => undefined);
  expect(first.heldBytes).toBe(SMALL_BYTES);
  slabs.expectReaders(0);
  expect(new FrameReader(SLAB_BYTES, () => undefined).heldBytes).toBe(SLAB_BYTES);
});

test('a frame that began while they were few is whole when they have become many', () => {
  const blob = Buffer.alloc(0.65 * SLAB_BYTES, 'most of a slab');
  const came: Buffer[] = [];
  const reader = new FrameReader(SLAB_BYTES, (run) => {
    for (const blob of run.copies()) came.push(encodeFrame(blob));
    run.slab.hold();
  });
  const begun = Buffer.concat([encodeFrame(Buffer.alloc(SLAB_BYTES / 3)), encodeFrame(blob)]);
  reader.push(begun.subarray(0, SLAB_BYTES / 2));
  const others = Array.from({ length: 40 }, () => new FrameReader(SLAB_BYTES, () => undefined));
  for (let at = SLAB_BYTES / 2; at < begun.length; at += 1000) reader.push(begun.subarray(at, at + 1000));
  expect(Buffer.concat(came).equals(begun)).toBe(true);
  for (const other of others) other.end();
});
