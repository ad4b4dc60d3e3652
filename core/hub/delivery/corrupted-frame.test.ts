import { expect, test } from 'vitest';
import { encodeFrame } from '../../wire/frame.ts';
import { corruptFrame } from './faulty.ts';

test.each([
  [0, '0000000201 00'],
  [0.5, '0000000200 01'],
  [1 - 2 ** -53, '0000000200 80'],
])('the bit at %d of a blob is turned over, in a copy', (at, expected) => {
  const frame = encodeFrame(new Uint8Array(2));

  expect(corruptFrame(frame, at).toString('hex')).toBe(expected.replace(' ', ''));
  expect(frame.toString('hex')).toBe('000000020000');
});
