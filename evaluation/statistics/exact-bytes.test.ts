import { expect, it } from 'vitest';
import { judgeBytes } from '../compare/judged-arms.ts';

it('compares bytes to the byte', () => {
  expect(judgeBytes(1000, 1000)).toEqual({ ratio: 1, low: 1, high: 1, verdict: 'equal' });
  expect(judgeBytes(1000, 999)).toEqual({ ratio: 0.999, low: 0.999, high: 0.999, verdict: 'smaller' });
  expect(judgeBytes(1000, 1001)).toMatchObject({ ratio: 1.001, verdict: 'larger' });
});

it('refuses bytes that are not exact', () => {
  for (const bytes of [0, -1, 1.5, 2 ** 53, Number.NaN]) {
    expect(() => judgeBytes(bytes, 1)).toThrow(RangeError);
    expect(() => judgeBytes(1, bytes)).toThrow(RangeError);
  }
});
