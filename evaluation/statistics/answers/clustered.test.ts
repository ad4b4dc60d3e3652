import { Random } from '@gaia-mesh/core/system/random.ts';
import { describe, expect, it } from 'vitest';
import { computeWilson } from '../inference/confidence.ts';
import { computeClusteredInterval } from './clustered.ts';

describe('an accuracy over questions that were tried several times', () => {
  it.each([
    // With a spread of 0.9, a team gets most questions nearly always or nearly never right; with 0, it is right at random.
    { questions: 24, spread: 0.9 },
    { questions: 72, spread: 0.9 },
    { questions: 72, spread: 0.3 },
    { questions: 72, spread: 0 },
  ])(
    'is covered in 93 to 97.5 of 100 samples: $questions questions, spread $spread',
    ({ questions, spread }) => {
      const random = new Random(61);
      const attempts = 5;
      const samples = 2000;
      const found = { clustered: 0, pooled: 0 };
      for (let sample = 0; sample < samples; sample++) {
        const right = Array.from({ length: questions }, () => {
          const chance = 0.5 + (random.uniform() < 0.5 ? spread : -spread) / 2;
          return Array.from({ length: attempts }, () => (random.uniform() < chance ? 1 : 0)).reduce<number>(
            (a, b) => a + b,
            0,
          );
        });
        const holds = ({ low, high }: { low: number; high: number }) => (low <= 0.5 && high >= 0.5 ? 1 : 0);
        found.clustered += holds(computeClusteredInterval(right, attempts));
        found.pooled += holds(
          computeWilson(
            right.reduce((a, b) => a + b, 0),
            questions * attempts,
          ),
        );
      }
      expect(found.clustered / samples).toBeGreaterThan(0.93);
      expect(found.clustered / samples).toBeLessThan(0.975);
      // Pooling treats every attempt as a question of its own, and its intervals are too narrow.
      if (spread === 0.9) expect(found.pooled / samples).toBeLessThan(0.75);
    },
  );
});

describe('the interval of clustered attempts', () => {
  it('of one attempt each is nearly Wilson’s interval', () => {
    const right = Array.from({ length: 40 }, (_, index) => (index < 10 ? 1 : 0));
    const { low, high } = computeClusteredInterval(right, 1);
    expect(low).toBeCloseTo(computeWilson(10, 40).low, 1);
    expect(high).toBeCloseTo(computeWilson(10, 40).high, 1);
  });

  it('keeps a width where all are right, and knows nothing of one question', () => {
    expect(computeClusteredInterval([5, 5, 5, 5], 5).low).toBeLessThan(0.6);
    expect(computeClusteredInterval([5], 5)).toEqual({ low: 0, high: 1 });
    expect(computeClusteredInterval([], 5)).toEqual({ low: 0, high: 1 });
    expect(computeClusteredInterval([1, 0], 0)).toEqual({ low: 0, high: 1 });
  });

  it('has the variance of the questions with n − 1, as by hand', () => {
    // Three questions, two attempts: shares 0, ½ and 1; mean ½, variance of a question ¼, of the mean ¼ / 3.
    const trials = (0.5 * 0.5) / (0.25 / 3);
    const expected = computeWilson(0.5 * trials, trials, 2);
    const found = computeClusteredInterval([0, 1, 2], 2, 2);
    expect(found.low).toBeCloseTo(expected.low, 12);
    expect(found.high).toBeCloseTo(expected.high, 12);
  });

  it('is corrected by Student’s t where no number of standard deviations is given', () => {
    // t of four degrees of freedom is 2.7764; without it these questions count as five trials.
    const trials = 5 * (1.959963984540054 / 2.776445105197793) ** 2;
    const expected = computeWilson(0.5 * trials, trials, 1.959963984540054);
    expect(computeClusteredInterval([0, 0, 1, 2, 2], 2).low).toBeCloseTo(expected.low, 9);
    expect(computeClusteredInterval([0, 0, 1, 2, 2], 2).high).toBeCloseTo(expected.high, 9);
  });

  it('has at least one trial and at most as many as there were attempts', () => {
    // If questions differ less than by chance, the interval is that of all attempts, and no narrower.
    const even = Array.from({ length: 10 }, (_, at) => (at === 0 ? 3 : 2));
    const { low, high } = computeClusteredInterval(even, 4, 2);
    const all = computeWilson(21, 40, 2);
    expect([low, high]).toEqual([expect.closeTo(all.low, 12), expect.closeTo(all.high, 12)]);
    const one = computeWilson(0.5, 1, 1.959963984540054);
    expect(computeClusteredInterval([0, 1], 1)).toEqual({
      low: expect.closeTo(one.low, 12),
      high: expect.closeTo(one.high, 12),
    });
  });
});
