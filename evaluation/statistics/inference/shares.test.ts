import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrastWeights, interactionWeights, shapleyWeights } from './shares.ts';

const weighted = (weights: readonly number[] | null, values: readonly number[]) =>
  (weights ?? []).reduce((sum, weight, index) => sum + weight * (values[index] ?? 0), 0);

it('shares are those of the glove game', () => {
  // Two left gloves (0, 1) and a right one (2): a pair is worth 1 (Shapley and Shubik): 1/6, 1/6, 4/6.
  const worth = [0, 0, 0, 0, 0, 1, 1, 1];
  expect([0, 1, 2].map((factor) => weighted(shapleyWeights(3, factor), worth))).toEqual([
    expect.closeTo(1 / 6, 12),
    expect.closeTo(1 / 6, 12),
    expect.closeTo(4 / 6, 12),
  ]);
});

it('shares sum to the whole, whatever the values', () => {
  const given = fc
    .integer({ min: 1, max: 5 })
    .chain((factors) =>
      fc.tuple(
        fc.constant(factors),
        fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2 ** factors, maxLength: 2 ** factors }),
      ),
    );
  fc.assert(
    fc.property(given, ([factors, values]) => {
      const shares = Array.from({ length: factors }, (_, factor) =>
        weighted(shapleyWeights(factors, factor), values),
      );
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(sum).toBeCloseTo((values.at(-1) ?? 0) - (values[0] ?? 0), 9);
    }),
  );
});

it('there is no interaction where effects add, and it is what they lack', () => {
  const additive = [0, 1, 2, 3, 5, 6, 7, 8];
  expect(weighted(interactionWeights(3, 0, 1), additive)).toBeCloseTo(0, 12);
  expect(weighted(interactionWeights(2, 0, 1), [0, 1, 2, 4])).toBeCloseTo(1, 12);
});

it('a contrast of a linear model is told from cells that do not hold all combinations', () => {
  // Intercept, a, b: cells none, a, b; and twice none.
  const rows = [
    [1, 0, 0],
    [1, 1, 0],
    [1, 0, 1],
    [1, 0, 0],
  ];
  const values = [10, 13, 17, 10];
  expect(weighted(contrastWeights(rows, [0, 1, 0]), values)).toBeCloseTo(3, 12);
  expect(weighted(contrastWeights(rows, [0, 1, 1]), values)).toBeCloseTo(10, 12);
});

it('what always changes together is not told apart, and their sum is', () => {
  const rows = [
    [1, 0, 0],
    [1, 1, 1],
  ];
  expect(contrastWeights(rows, [0, 1, 0])).toBeNull();
  expect(weighted(contrastWeights(rows, [0, 1, 1]), [2, 9])).toBeCloseTo(7, 12);
});
