import { Random } from '@gaia-mesh/core/system/random.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeMedian } from '../inference/quantile.ts';
import { comparePaired, judgeAnswers, type PairedCounts, testMcNemar } from './paired-answers.ts';

const counts = (both: number, onlyBaseline: number, onlyOther: number, neither: number): PairedCounts => ({
  both,
  onlyBaseline,
  onlyOther,
  neither,
});
const anyCounts = fc
  .array(fc.nat(60), { minLength: 4, maxLength: 4 })
  .map(([a = 0, b = 0, c = 0, d = 0]) => counts(a, b, c, d + 1));

describe('the exact McNemar test', () => {
  test.each([
    // The sums of binomial coefficients, by hand.
    [counts(1, 1, 7, 12), (2 * 9) / 2 ** 8],
    [counts(59, 6, 16, 80), (2 * 110_056) / 2 ** 22],
    [counts(5, 0, 5, 5), 2 / 2 ** 5],
    [counts(9, 4, 4, 9), 1],
    [counts(9, 0, 0, 9), 1],
  ])('of %o is %d', (given, expected) => {
    expect(testMcNemar(given)).toBeCloseTo(expected, 12);
  });

  test('holds where 2ⁿ is no number any more', () => {
    expect(testMcNemar(counts(0, 1000, 1000, 0))).toBe(1);
    expect(testMcNemar(counts(0, 900, 1100, 0))).toBeCloseTo(8.4e-6, 6);
  });
});

describe('the difference of paired accuracies', () => {
  test.each([
    // Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables, chapter 8; there the first less the second.
    [counts(59, 16, 6, 80), -10 / 161, -0.1186, -0.0046],
    [counts(1, 7, 1, 12), -6 / 21, -0.507, -0.026],
  ])('of %o is %d, %d to %d', (given, difference, low, high) => {
    const found = comparePaired(given);

    expect(found.difference).toBeCloseTo(difference, 12);
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
  });

  test('lies in its interval, within −1..1, and turns round with the two', () => {
    fc.assert(
      fc.property(anyCounts, (given) => {
        const { difference, low, high } = comparePaired(given);
        const swapped = comparePaired({
          ...given,
          onlyBaseline: given.onlyOther,
          onlyOther: given.onlyBaseline,
        });

        expect(low).toBeLessThanOrEqual(difference);
        expect(high).toBeGreaterThanOrEqual(difference);
        expect(low).toBeGreaterThanOrEqual(-1 - 1e-12);
        expect(high).toBeLessThanOrEqual(1 + 1e-12);
        expect(swapped.difference).toBeCloseTo(-difference, 12);
        expect(swapped.low).toBeCloseTo(-high, 12);
      }),
    );
  });

  test('is unknown without questions', () => {
    expect(comparePaired(counts(0, 0, 0, 0))).toEqual({ difference: 0, low: -1, high: 1 });
  });

  test('of two that are equally good covers 0 in about 95 of 100 samples', () => {
    // Every table of 40 questions where both are right half the time, by its probability: 0.4, 0.1, 0.1, 0.4.
    const logs = Array.from({ length: 41 }, (_, n) => logFactorial(n));
    const at = (n: number) => logs[n] ?? Number.NaN;
    let covered = 0;
    for (let both = 0; both <= 40; both++)
      for (let b = 0; both + b <= 40; b++)
        for (let c = 0; both + b + c <= 40; c++) {
          const d = 40 - both - b - c;
          const log = at(40) - at(both) - at(b) - at(c) - at(d);
          const probability = Math.exp(log + (both + d) * Math.log(0.4) + (b + c) * Math.log(0.1));
          const { low, high } = comparePaired(counts(both, b, c, d));
          if (low <= 0 && high >= 0) covered += probability;
        }

    expect(covered).toBeGreaterThan(0.94);
    expect(covered).toBeLessThan(0.99);
  });
});

describe('verdicts', () => {
  test('call a difference that test and interval agree on', () => {
    const verdicts = judgeAnswers([counts(20, 2, 40, 10), counts(20, 40, 2, 10), counts(20, 5, 7, 10)]);

    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['better', 'worse', 'no detectable difference']);
    expect(verdicts[0]).toMatchObject({ questions: 72, difference: 38 / 72 });
  });

  test('are corrected for their number', () => {
    const close = counts(20, 1, 9, 20);
    expect(judgeAnswers([close])[0]).toMatchObject({ verdict: 'better' });

    const [first] = judgeAnswers(Array.from({ length: 5 }, () => close));

    expect(first?.verdict).toBe('no detectable difference');
    expect(first?.adjustedP).toBeCloseTo(5 * testMcNemar(close), 12);
  });
});

describe('the smallest difference that questions can show', () => {
  test('is called in about four of five runs', () => {
    const random = new Random(36);
    /** 72 questions of which 10 % part two teams that are equally good, or one is better by `difference`. */
    const drawn = (difference: number) => {
      const sums = { both: 0, onlyBaseline: 0, onlyOther: 0, neither: 0 };
      const parted = Math.max(0.1, difference);
      for (let question = 0; question < 72; question++) {
        const place = random.uniform();
        if (place > parted) sums[random.uniform() < 0.6 ? 'both' : 'neither'] += 1;
        else sums[place < (parted + difference) / 2 ? 'onlyOther' : 'onlyBaseline'] += 1;
      }
      return judgeAnswers([sums])[0];
    };
    const detectable = computeMedian(Array.from({ length: 300 }, () => drawn(0)?.detectable ?? 1));
    const found = Array.from({ length: 300 }, () => drawn(detectable)?.verdict === 'better');
    expect(found.filter(Boolean).length / 300).toBeGreaterThan(0.75);
    expect(found.filter(Boolean).length / 300).toBeLessThan(0.9);
  });

  test('is none where they are too few', () => {
    expect(judgeAnswers([counts(1, 0, 1, 2)])[0]?.detectable).toBe(Infinity);
  });
});

function logFactorial(n: number): number {
  let sum = 0;
  for (let k = 2; k <= n; k++) sum += Math.log(k);
  return sum;
}
