import { Random } from '@gaia-mesh/core/system/random.ts';
import { binomialBound } from '@gaia-mesh/core/testing/binomial.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normal } from '../testing/noise.ts';
import { bootstrapMedian } from './bootstrap.ts';
import { computeNormalTail } from './normal.ts';
import { computeStudentQuantile } from './student.ts';

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

/** The medians of resamples in ascending order, by sorting each resample: the slow way, with the same draws. */
function resampleSlowly(values: readonly number[], resamples: number, seed: number): number[] {
  const random = new Random(seed);
  const ascending = values.toSorted((a, b) => a - b);
  const n = ascending.length;
  const medians = Array.from({ length: resamples }, () => {
    const drawn = ascending.map(() => ascending[random.integer(n)] ?? Number.NaN).sort((a, b) => a - b);
    const [below = Number.NaN, above = Number.NaN] = [drawn[Math.ceil(n / 2) - 1], drawn[Math.floor(n / 2)]];
    return (below + above) / 2;
  });
  return medians.sort((a, b) => a - b);
}

/** Values whose medians of two are all different, in no order. */
const powers = (n: number) => Array.from({ length: n }, (_, i) => 3 ** ((i * 5) % n));

it.each([6, 8, 9, 11, 12, 14, 21])(
  'ends at the resample that Student’s t names, whatever the confidence (n = %i)',
  (n) => {
    const [resamples, seed] = [700, n];
    const values = powers(n);
    const medians = resampleSlowly(values, resamples, seed);
    const place = (t: number) => {
      const tail = computeNormalTail(t * Math.sqrt(n / (n - 1)));
      return Math.max(1, Math.floor((resamples + 1) * tail));
    };
    let asked = 0;
    for (let z = 0.5; computeNormalTail(z) >= 2 ** -n && z < 3; z += 0.02) {
      const t = computeStudentQuantile(computeNormalTail(z), n - 1);
      const { low, high } = bootstrapMedian(values, { resamples, seed, z });
      const at = place(t);
      expect({ low, high }, `z ${z}`).toEqual({ low: medians[at - 1], high: medians[resamples - at] });
      asked += 1;
    }
    expect(asked).toBeGreaterThan(80);
  },
);

it('takes 2,000 resamples, the first seed and 95 % where nothing is said', () => {
  const values = powers(24);
  const usual = { resamples: 2000, seed: 1, z: 1.959963984540054 };
  const intervals = [{}, usual, { ...usual, seed: 2 }, { ...usual, resamples: 1999 }].map((options) =>
    bootstrapMedian(Array.from(values, Math.log), options),
  );
  expect(intervals[0]).toEqual(intervals[1]);
  expect(intervals[2]).not.toEqual(intervals[1]);
});

it('asks for 500 to 1,000,000 resamples, both included', () => {
  for (const resamples of [500, 1_000_000])
    expect(bootstrapMedian([1, 2], { resamples }).low).toBe(-Infinity);
  expect(() => bootstrapMedian([1, 2], { resamples: 499 })).toThrow(
    'expected 500 to 1000000 resamples, got 499',
  );
  expect(() => bootstrapMedian([1, 2], { resamples: Number.NaN })).toThrow(RangeError);
});

it('reaches the extreme medians, and not beyond, where the tail is below one resample', () => {
  const values = [1, 2, 3, 4, 5, 6, 7, 8];
  const medians = resampleSlowly(values, 500, 3);
  // 1 in 256 lies beyond the smallest and the largest value.
  expect(bootstrapMedian(values, { z: 2.66, resamples: 500, seed: 3 })).toEqual({
    low: medians[0],
    high: medians.at(-1),
  });
  expect(bootstrapMedian(values, { z: 2.67, resamples: 500, seed: 3 }).low).toBe(-Infinity);
});
