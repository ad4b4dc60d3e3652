import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeWilson } from './confidence.ts';

it('gives the published interval', () => {
  // Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20 and 1 of 29, z for 95 %.
  for (const [correct, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const interval = computeWilson(correct, n);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  }
});

it('knows nothing without trials', () => {
  expect(computeWilson(0, 0)).toEqual({ low: 0, high: 1 });
});

it('touches 0 and 1 exactly where none or all are correct', () => {
  for (let n = 1; n <= 200; n++) {
    expect(computeWilson(0, n).low, `${n}`).toBe(0);
    expect(computeWilson(n, n).high, `${n}`).toBe(1);
  }
});

it('holds the accuracy, stays within 0 and 1, and mirrors', () => {
  const counts = fc
    .integer({ min: 1, max: 1e6 })
    .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
  fc.assert(
    fc.property(counts, ([correct, n]) => {
      const { low, high } = computeWilson(correct, n);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(low).toBeLessThanOrEqual(correct / n);
      expect(high).toBeGreaterThanOrEqual(correct / n);
      expect(high).toBeLessThanOrEqual(1);
      expect(computeWilson(n - correct, n).high).toBeCloseTo(1 - low, 9);
      expect(computeWilson(10 * correct, 10 * n).high - computeWilson(10 * correct, 10 * n).low).toBeLessThan(
        high - low,
      );
    }),
  );
});

it('refuses counts that no run can have', () => {
  expect(() => computeWilson(3, 2)).toThrow(
    new RangeError('expected 0 <= correct <= n, got correct = 3, n = 2'),
  );
  expect(() => computeWilson(-1, 2)).toThrow(RangeError);
  expect(() => computeWilson(Number.NaN, 2)).toThrow(RangeError);
});
