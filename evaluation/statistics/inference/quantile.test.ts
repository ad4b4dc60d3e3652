import { expect, it } from 'vitest';
import { computeMedian, computePercentile, computeQuantile } from './quantile.ts';

it('interpolates as definition 7 of Hyndman and Fan', () => {
  // R: quantile(c(15, 20, 35, 40, 50), c(0, .05, .4, .5, 1)) and quantile(1:10, .25).
  const values = [50, 15, 40, 20, 35];
  expect([0, 0.05, 0.4, 0.5, 1].map((p) => computeQuantile(values, p))).toEqual([15, 16, 29, 35, 50]);
  expect(computeQuantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.25)).toBe(3.25);
});

it('gives the middle value, or the mean of the two in the middle', () => {
  expect(computeMedian([3])).toBe(3);
  expect(computeMedian([9, 1, 2])).toBe(2);
  expect(computeMedian(Float64Array.of(9, 1, 2, 4))).toBe(3);
});

it('withholds percentiles that the sample cannot hold', () => {
  for (const [p, needed] of [
    [0.5, 1],
    [0.75, 4],
    [0.05, 20],
    [0.95, 20],
    [0.99, 100],
    [0.999, 1000],
  ] as const) {
    const values = Array.from({ length: needed }, (_, i) => i);
    expect(computePercentile(values, p)).toBe(computeQuantile(values, p));
    expect(computePercentile(values.slice(1), p)).toBeNull();
  }
  expect(computePercentile([1, 2, 3], 1)).toBeNull();
});

it('refuses empty samples and what is no fraction', () => {
  expect(() => computeQuantile([], 0.5)).toThrow(new RangeError('expected at least one value, got none'));
  for (const p of [-0.01, 1.01, Number.NaN])
    expect(() => computeQuantile([1], p)).toThrow(
      new RangeError(`expected a fraction from 0 to 1, got ${p}`),
    );
});
