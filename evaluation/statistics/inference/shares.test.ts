import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeOrderWeights, findFinestBlocks, pickBlockValues } from './shares.ts';

const weighted = (weights: readonly number[] | undefined, values: readonly number[]) =>
  (weights ?? []).reduce((sum, weight, index) => sum + weight * (values[index] ?? 0), 0);

it('shares are those of the glove game', () => {
  // Two left gloves (0, 1) and a right one (2): a pair is worth 1 (Shapley and Shubik): 1/6, 1/6, 4/6.
  const worth = [0, 0, 0, 0, 0, 1, 1, 1];
  expect(
    [0, 1, 2].map((factor) =>
      weighted(
        computeOrderWeights(
          worth.map(() => true),
          factor,
        ),
        worth,
      ),
    ),
  ).toEqual([expect.closeTo(1 / 6, 12), expect.closeTo(1 / 6, 12), expect.closeTo(4 / 6, 12)]);
});

it('shares sum to the whole, whatever the values and whichever of them are known', () => {
  const given = fc.integer({ min: 1, max: 5 }).chain((factors) =>
    fc.array(fc.tuple(fc.integer({ min: -100, max: 100 }), fc.boolean()), {
      minLength: 2 ** factors,
      maxLength: 2 ** factors,
    }),
  );
  fc.assert(
    fc.property(given, (sets) => {
      const values = sets.map(([value]) => value);
      const known = sets.map(([, isKnown], set) => isKnown || set === 0 || set === sets.length - 1);
      const blocks = findFinestBlocks(known);
      const isKnown = pickBlockValues(known, blocks);
      const weights = blocks.map((_, block) => computeOrderWeights(isKnown, block) ?? []);
      const sum = weights.reduce((total, own) => total + weighted(own, pickBlockValues(values, blocks)), 0);
      expect(sum).toBeCloseTo((values.at(-1) ?? 0) - (values[0] ?? 0), 9);
      // Nothing is taken from a value that nobody knows.
      for (const own of weights)
        expect(own.filter((weight, set) => weight !== 0 && isKnown[set] !== true)).toEqual([]);
      expect(blocks.flat().toSorted()).toEqual(
        Array.from({ length: Math.log2(sets.length) }, (_, index) => index),
      );
    }),
  );
});

it('shares are averages over the orders that are known, where some are not', () => {
  // 0 before 1, and 2 before or behind both.
  const known = [true, true, false, true, true, true, false, true];
  const values = [0, 1, NaN, 3, 10, 12, NaN, 20];
  const shares = [0, 1, 2].map((factor) =>
    (computeOrderWeights(known, factor) ?? []).reduce(
      (sum, weight, set) => (weight === 0 ? sum : sum + weight * (values[set] ?? 0)),
      0,
    ),
  );
  // Orders 0 1 2, 0 2 1 and 2 0 1.
  expect(shares).toEqual(
    [(1 + 1 + 2) / 3, (2 + 8 + 8) / 3, (17 + 11 + 10) / 3].map((one) => expect.closeTo(one, 12)),
  );
});

it('factors that never change without each other are one block', () => {
  const known = (sets: readonly number[]) => Array.from({ length: 8 }, (_, set) => sets.includes(set));
  expect(findFinestBlocks(known([0, 1, 3, 7]))).toEqual([[0], [1], [2]]);
  expect(findFinestBlocks(known([0, 3, 7]))).toEqual([[0, 1], [2]]);
  expect(findFinestBlocks(known([0, 5, 7]))).toEqual([[0, 2], [1]]);
  expect(findFinestBlocks(known([0, 7]))).toEqual([[0, 1, 2]]);
  // Nothing leads from none to all.
  expect(findFinestBlocks(known([0, 3]))).toEqual([]);
});

it('of all divisions the one with the most blocks is found', () => {
  const known = [0, 6, 7, 13, 15];
  expect(findFinestBlocks(Array.from({ length: 16 }, (_, set) => known.includes(set)))).toEqual([
    [0],
    [1, 2],
    [3],
  ]);
});
