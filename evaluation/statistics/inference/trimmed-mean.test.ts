import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeTrimmedMean } from './trimmed-mean.ts';

it('leaves a fifth off at each end', () => {
  expect(computeTrimmedMean([1, 2, 3, 4, 1000]).mean).toBe(3);
  expect(computeTrimmedMean([-1000, 1, 2, 3, 4, 5, 6, 7, 8, 9999]).mean).toBe(4.5);
  expect(computeTrimmedMean([1, 2, 6]).mean).toBe(3);
});

it('has the variance of Yuen and Dixon', () => {
  // Winsorized: 2 2 3 4 4, squares about their mean 4; three values are left.
  expect(computeTrimmedMean([1, 2, 3, 4, 1000]).variance).toBeCloseTo(4 / (3 * 2), 12);
  // Without trimming it is that of the mean: squares 14, three values.
  expect(computeTrimmedMean([1, 2, 6]).variance).toBeCloseTo(14 / 6, 12);
  expect(computeTrimmedMean([1, 3])).toEqual({ mean: 2, variance: 1 });
  expect(computeTrimmedMean([7])).toEqual({ mean: 7, variance: 0 });
});

it('moves with the values, and does not mind their order', () => {
  const values = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(values, fc.integer({ min: -50, max: 50 }), (given, by) => {
      const { mean, variance } = computeTrimmedMean(given);
      const moved = computeTrimmedMean(given.map((value) => value + by).reverse());
      expect(moved.mean).toBeCloseTo(mean + by, 9);
      expect(moved.variance).toBeCloseTo(variance, 6);
    }),
  );
});

it('refuses nothing at all', () => {
  expect(() => computeTrimmedMean([])).toThrow(new RangeError('expected at least one value, got none'));
});
