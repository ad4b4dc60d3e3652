import { expect, it } from 'vitest';
import { computeMedian, computePercentile } from './quantile.ts';

it('interpolates as definition 7 of Hyndman and Fan', () => {
  // R: quantile(c(15, 20, 35, 40, 50), c(.2, .4, .5, .7)), quantile(1:10, .25) and quantile(1:20, .05).
  const values = [50, 15, 40, 20, 35];
  expect([0.2, 0.4, 0.5, 0.7].map((p) => computePercentile(values, p))).toEqual([19, 29, 35, 39]);
  expect(computePercentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.25)).toBe(3.25);
  expect(
    computePercentile(
      Array.from({ length: 20 }, (_, i) => i + 1),
      0.05,
    ),
  ).toBeCloseTo(1.95, 12);
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
    expect(computePercentile(values, p)).toBeCloseTo((needed - 1) * p, 9);
    expect(computePercentile(values.slice(1), p)).toBeNull();
  }
  expect(computePercentile([1, 2, 3], 1)).toBeNull();
});

it('refuses empty samples and what is no fraction', () => {
  expect(() => computeMedian([])).toThrow(new RangeError('expected at least one value, got none'));
  for (const p of [-0.01, 1.01, Number.NaN])
    expect(() => computePercentile([1], p)).toThrow(
      new RangeError(`expected a fraction from 0 to 1, got ${p}`),
    );
});
