import { Random } from '@gaia-mesh/core/system/random.ts';
import { binomialBound } from '@gaia-mesh/core/testing/binomial.ts';
import { expect, it } from 'vitest';
import { drawRound } from '../compare/experiment.ts';

const ARMS = ['json', 'cbor', 'msgpack'];

it('runs every arm once and the baseline twice, once as the null run', () => {
  const random = new Random(1);
  for (let round = 0; round < 50; round++) {
    const runs = drawRound(ARMS, 'json', random).map(({ arm, isNull }) => `${arm}${isNull ? ' again' : ''}`);
    expect(runs.toSorted()).toEqual(['cbor', 'json', 'json again', 'msgpack']);
  }
});

it('gives the same rounds for the same seed, and others for another', () => {
  const rounds = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 10 }, () => drawRound(ARMS, 'json', random));
  };
  expect(rounds(7)).toEqual(rounds(7));
  expect(rounds(7)).not.toEqual(rounds(8));
});

it('puts every run, the null run too, at every place equally often', () => {
  const seed = 9;
  const random = new Random(seed);
  const counts = new Map<string, number>();
  for (let round = 0; round < 2000; round++) {
    for (const [place, { arm, isNull }] of drawRound(ARMS, 'json', random).entries()) {
      const key = `${arm} ${isNull} at ${place}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  expect(counts.size).toBe(16);
  const { low, high } = binomialBound(2000, 1 / 4, 1e-4);
  for (const [key, count] of counts) {
    expect(count, `${key}, seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(count, `${key}, seed ${seed}`).toBeLessThanOrEqual(high);
  }
});

it('compares a baseline that is alone with itself', () => {
  expect(drawRound(['json'], 'json', new Random(1))).toHaveLength(2);
});
