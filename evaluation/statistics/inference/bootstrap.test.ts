import { Random } from '@gaia-mesh/core/system/random.ts';
import { binomialBound } from '@gaia-mesh/core/testing/binomial.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normal } from '../testing/noise.ts';
import { bootstrapMedian } from './bootstrap.ts';

it('ends where endless resampling would', () => {
  // For odd n the median of a resample is one of the values: at most the i-th with the probability that a binomial of n and
  // i / n reaches (n + 1) / 2 (Efron, 1979). The first i where this exceeds the expanded tail, by SciPy 1.17:
  for (const [n, i] of [
    [7, 1],
    [15, 4],
    [23, 7],
    [25, 8],
    [33, 11],
  ] as const) {
    const values = Array.from({ length: n }, (_, k) => k + 1);
    expect(bootstrapMedian(values, { resamples: 20_000 })).toEqual({ low: i, high: n + 1 - i });
  }
});

describe('holds the median as often as it says', () => {
  const seed = 2;
  const samples = 400;
  const shapes: Record<string, (random: Random) => number> = {
    normal,
    skewed: (random) => -Math.log(1 - random.uniform()) - Math.LN2,
    'heavy-tailed': (random) => normal(random) / Math.sqrt(-Math.log(1 - random.uniform())),
  };
  for (const [shape, draw] of Object.entries(shapes)) {
    it.each([6, 7, 13, 24])(`${shape}, n = %i`, (n) => {
      const random = new Random(seed);
      let held = 0;
      for (let sample = 0; sample < samples; sample++) {
        const values = Float64Array.from({ length: n }, () => draw(random));
        const { low, high } = bootstrapMedian(values, { resamples: 500, seed: sample });
        held += low <= 0 && high >= 0 ? 1 : 0;
      }
      expect(held, `seed ${seed}`).toBeGreaterThanOrEqual(binomialBound(samples, 0.95).low);
    });
  }
});

it('claims nothing where no interval between values holds the median often enough', () => {
  expect(bootstrapMedian([])).toEqual({ low: -Infinity, high: Infinity });
  expect(bootstrapMedian([1, 2, 3, 4, 5])).toEqual({ low: -Infinity, high: Infinity });
  expect(bootstrapMedian([1, 2, 3, 4, 5, 6]).low).toBeGreaterThanOrEqual(1);
  // 99 % needs eight values.
  expect(bootstrapMedian([1, 2, 3, 4, 5, 6, 7], { z: 2.5758 })).toEqual({ low: -Infinity, high: Infinity });
  expect(bootstrapMedian([1, 2, 3, 4, 5, 6, 7, 8], { z: 2.5758 }).low).toBeGreaterThanOrEqual(1);
});

it('lies within the values, moves and scales with them, and is the same for the same seed', () => {
  const samples = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 6, maxLength: 40 });
  fc.assert(
    fc.property(samples, fc.integer(), (values, seed) => {
      const { low, high } = bootstrapMedian(values, { seed, resamples: 500 });
      expect(low).toBeGreaterThanOrEqual(Math.min(...values));
      expect(high).toBeLessThanOrEqual(Math.max(...values));
      expect(low).toBeLessThanOrEqual(high);
      const moved = values.map((value) => 2 * value + 7).reverse();
      expect(bootstrapMedian(moved, { seed, resamples: 500 })).toEqual({
        low: 2 * low + 7,
        high: 2 * high + 7,
      });
    }),
  );
});

it('is wider for more confidence', () => {
  const values = Array.from({ length: 40 }, (_, i) => i ** 2);
  const usual = bootstrapMedian(values);
  const surer = bootstrapMedian(values, { z: 2.5758 });
  expect(surer.low).toBeLessThan(usual.low);
  expect(surer.high).toBeGreaterThan(usual.high);
});

it('refuses numbers of resamples that would mislead or fill the memory', () => {
  for (const resamples of [499, 1_000_001, 1000.5]) {
    expect(() => bootstrapMedian([1, 2], { resamples })).toThrow(RangeError);
  }
});
