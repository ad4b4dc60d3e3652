import { expect, it } from 'vitest';
import { binomialBound } from '../testing/binomial.ts';
import { Random } from './random.ts';

it('gives the numbers of the reference implementations', () => {
  // xoshiro128starstar.c seeded with two outputs of splitmix64.c (prng.di.unimi.it), low halves first.
  for (const [seed, ...expected] of [
    [0, 3737715805, 2584255861, 2876756834, 3286328325, 1553311962],
    [1, 1695105466, 1423115009, 634581793, 1068227753, 716759206],
    [1234567, 1967786208, 270031234, 1115494691, 824886977, 1639868524],
    [Number.MAX_SAFE_INTEGER, 1233166643, 1287031142, 661813442, 2960669951, 2601079046],
  ] as const) {
    const random = new Random(seed);
    expect(expected.map(() => random.bits())).toEqual(expected);
  }
});

it('draws every whole number below n equally often, and never n', () => {
  const seed = 3;
  const random = new Random(seed);
  const counts = new Array<number>(7).fill(0);
  for (let i = 0; i < 7000; i++) {
    const drawn = random.integer(7);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  const { low, high } = binomialBound(7000, 1 / 7, 1e-4);
  expect(counts).toHaveLength(7);
  for (const count of counts) {
    expect(count, `seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(count, `seed ${seed}`).toBeLessThanOrEqual(high);
  }
});

it('draws again where the last values would favour small numbers', () => {
  // Of n = 3 · 2^30, a plain remainder would give the first third twice as often as the others.
  const seed = 4;
  const random = new Random(seed);
  let first = 0;
  for (let i = 0; i < 3000; i++) first += random.integer(3 * 2 ** 30) < 2 ** 30 ? 1 : 0;
  const { low, high } = binomialBound(3000, 1 / 3, 1e-4);
  expect(first, `seed ${seed}`).toBeGreaterThanOrEqual(low);
  expect(first, `seed ${seed}`).toBeLessThanOrEqual(high);
});

it('shuffles into every order equally often, and leaves the original alone', () => {
  const seed = 6;
  const random = new Random(seed);
  const original = ['a', 'b', 'c'];
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const order = random.shuffle(original).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(original).toEqual(['a', 'b', 'c']);
  expect([...counts.keys()].sort()).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
  const { low, high } = binomialBound(6000, 1 / 6, 1e-4);
  for (const [order, count] of counts) {
    expect(count, `${order}, seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(count, `${order}, seed ${seed}`).toBeLessThanOrEqual(high);
  }
});

it('refuses what is no seed and no bound', () => {
  for (const seed of [0.5, Number.NaN, 2 ** 53]) expect(() => new Random(seed)).toThrow(RangeError);
  for (const n of [0, -1, 1.5, 2 ** 32 + 1]) expect(() => new Random(1).integer(n)).toThrow(RangeError);
  expect(new Random(1).integer(1)).toBe(0);
});
