import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compare } from './paired.ts';

const measurements = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 10_000 })), {
    minLength: 1,
    maxLength: 40,
  })
  .map((pairs) => ({ a: pairs.map(([a]) => a), b: pairs.map(([, b]) => b) }));

it('gives the median ratio of the rounds, whatever slows whole rounds', () => {
  const speed = [1, 8, 2, 0.25, 4, 16, 1, 32, 2];
  const factors = [1.1, 1.2, 1.3, 1.25, 1.15, 1.2, 1.22, 1.18, 9];
  const baseline = speed.map((factor) => 100 * factor);
  const other = baseline.map((time, round) => time * (factors[round] ?? 1));
  const comparison = compare(baseline, other);
  expect(comparison.n).toBe(9);
  expect(comparison.ratio).toBeCloseTo(1.2, 12);
  expect(comparison.low).toBeGreaterThanOrEqual(1.1);
  expect(comparison.low).toBeLessThan(1.2);
  expect(comparison.high).toBeGreaterThan(1.2);
  expect(comparison.pValue).toBe(2 / 2 ** 9);
  expect(comparison.effectSize).toBe(1);
});

it('finds nothing between equal series', () => {
  const times = [3, 1, 4, 1, 5, 9, 2, 6];
  expect(compare(times, times)).toEqual({ n: 8, ratio: 1, low: 1, high: 1, pValue: 1, effectSize: 0 });
});

it('claims no interval for fewer than six rounds', () => {
  expect(compare([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])).toMatchObject({ ratio: 2, low: 0, high: Infinity });
});

it('gives the inverse when the arms are swapped', () => {
  fc.assert(
    fc.property(measurements, ({ a, b }) => {
      const forth = compare(a, b, { resamples: 500 });
      const back = compare(b, a, { resamples: 500 });
      expect(back.ratio * forth.ratio).toBeCloseTo(1, 9);
      expect(back.effectSize).toBeCloseTo(-forth.effectSize, 9);
      expect(back.pValue).toBeCloseTo(forth.pValue, 9);
      expect(forth.low).toBeLessThanOrEqual(forth.ratio * (1 + 1e-9));
      expect(forth.high).toBeGreaterThanOrEqual(forth.ratio * (1 - 1e-9));
    }),
  );
});

it('refuses series that are no paired measurements', () => {
  expect(() => compare([], [])).toThrow(RangeError);
  expect(() => compare([1, 2], [1])).toThrow(RangeError);
  for (const value of [0, -1, Number.NaN, Infinity]) {
    expect(() => compare([1, 1], [1, value])).toThrow(RangeError);
    expect(() => compare([1, value], [1, 1])).toThrow(RangeError);
  }
});
