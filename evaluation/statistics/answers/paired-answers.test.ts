import { Random } from '@gaia-mesh/core/system/random.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeMedian } from '../inference/quantile.ts';
import {
  comparePaired,
  compareRatio,
  judgeAnswers,
  type PairedAttempts,
  testSwaps,
} from './paired-answers.ts';

/** Questions that both, only the baseline, only the other, or neither got right, in one attempt each. */
function counts(both: number, onlyBaseline: number, onlyOther: number, neither: number): PairedAttempts {
  const times = (number: number, baseline: number, other: number) =>
    Array.from({ length: number }, () => ({ baseline, other }));
  const questions = [
    ...times(both, 1, 1),
    ...times(onlyBaseline, 1, 0),
    ...times(onlyOther, 0, 1),
    ...times(neither, 0, 0),
  ];
  return { questions, attempts: 1 };
}

const anyCounts = fc
  .array(fc.nat(40), { minLength: 4, maxLength: 4 })
  .map(([a = 0, b = 0, c = 0, d = 0]) => counts(a, b, c, d + 2));
const anyAttempts: fc.Arbitrary<PairedAttempts> = fc.integer({ min: 1, max: 5 }).chain((attempts) =>
  fc
    .array(fc.record({ baseline: fc.nat(attempts), other: fc.nat(attempts) }), {
      minLength: 2,
      maxLength: 40,
    })
    .map((rights) => ({
      attempts,
      questions: rights.map(({ baseline, other }) => ({
        baseline: baseline / attempts,
        other: other / attempts,
      })),
    })),
);

function swap({ questions, attempts }: PairedAttempts): PairedAttempts {
  const swapped = questions.map(({ baseline, other }) => ({ baseline: other, other: baseline }));
  return { questions: swapped, attempts };
}

describe('the exact test of swaps', () => {
  test.each([
    // The sums of binomial coefficients, by hand: with one attempt it is McNemar's exact test.
    [counts(1, 1, 7, 12), (2 * 9) / 2 ** 8],
    [counts(59, 6, 16, 80), (2 * 110_056) / 2 ** 22],
    [counts(5, 0, 5, 5), 2 / 2 ** 5],
    [counts(5, 5, 0, 5), 2 / 2 ** 5],
    [counts(9, 4, 4, 9), 1],
    [counts(9, 0, 0, 9), 1],
  ])('of %o is %d', (given, expected) => {
    expect(testSwaps(given)).toBeCloseTo(expected, 12);
  });

  test('counts the attempts at one question together', () => {
    const questions = [
      { baseline: 0, other: 1 },
      { baseline: 1 / 3, other: 1 },
      { baseline: 2 / 3, other: 1 / 3 },
      { baseline: 1, other: 1 },
    ];
    // Of the eight sums of ±3 ± 2 ± 1, those of at least 4: 6 and 4, and as many below.
    expect(testSwaps({ attempts: 3, questions })).toBeCloseTo(4 / 8, 12);
  });

  test('of very many attempts is that of the normal distribution', () => {
    const many = (favoured: number, others: number) =>
      testSwaps({
        attempts: 100,
        questions: [
          ...Array.from({ length: favoured }, () => ({ baseline: 0, other: 1 })),
          ...Array.from({ length: others }, () => ({ baseline: 1, other: 0 })),
        ],
      });
    expect(many(130, 100)).toBeCloseTo(0.0479, 3);
    expect(many(110, 110)).toBe(1);
    expect(many(100, 98)).toBeCloseTo(testSwaps(counts(0, 98, 100, 0)), 1);
  });
});

/** Two questions on which the other is better by one half each, so that the accuracies are perfectly correlated. */
const alike: PairedAttempts = {
  attempts: 2,
  questions: [
    { baseline: 0, other: 0.5 },
    { baseline: 0.5, other: 1 },
  ],
};

describe('the difference of paired accuracies', () => {
  test.each([
    // Fagerland, Lydersen and Laake, Statistical Analysis of Contingency Tables, chapter 8, without its correction for continuity.
    [counts(59, 16, 6, 80), -10 / 161, -0.1186, -0.0046],
    [counts(1, 7, 1, 12), -6 / 21, -0.507, -0.026],
  ])('of %o is %d, about %d to %d', (given, difference, low, high) => {
    const found = comparePaired(given);

    expect(found.difference).toBeCloseTo(difference, 12);
    expect(Math.abs(found.low - low)).toBeLessThan(0.02);
    expect(Math.abs(found.high - high)).toBeLessThan(0.02);
  });

  test('lies in its interval, within −1..1, and turns round with the two', () => {
    fc.assert(
      fc.property(fc.oneof(anyCounts, anyAttempts), (given) => {
        const { difference, low, high } = comparePaired(given);
        const swapped = comparePaired(swap(given));

        expect(low).toBeLessThanOrEqual(difference + 1e-12);
        expect(high).toBeGreaterThanOrEqual(difference - 1e-12);
        expect(low).toBeGreaterThanOrEqual(-1);
        expect(high).toBeLessThanOrEqual(1);
        expect(swapped.difference).toBeCloseTo(-difference, 12);
        expect(swapped.low).toBeCloseTo(-high, 12);
        expect(comparePaired(given, 3).high).toBeGreaterThanOrEqual(high - 1e-12);
      }),
      { seed: 4 },
    );
  });

  test('of one question or none is unknown', () => {
    expect(comparePaired(counts(0, 0, 0, 0))).toEqual({ difference: 0, low: -1, high: 1 });
    expect(comparePaired(counts(0, 0, 1, 0))).toEqual({ difference: 1, low: -1, high: 1 });
    expect(comparePaired(counts(0, 1, 0, 0))).toEqual({ difference: -1, low: -1, high: 1 });
    expect(comparePaired(counts(1, 0, 0, 0))).toEqual({ difference: 0, low: -1, high: 1 });
  });

  test('of two questions that differ alike has no width', () => {
    const same = expect.closeTo(0.5, 12);
    expect(comparePaired(alike)).toEqual({ difference: same, low: same, high: same });
  });

  test('of repeated attempts is as sure as the questions, not as the attempts', () => {
    const once = counts(30, 5, 15, 30);
    const again = comparePaired({ ...once, attempts: 10 });
    const { low, high } = comparePaired(once);
    expect(again.low).toBeCloseTo(low, 2);
    expect(again.high).toBeCloseTo(high, 2);
  });

  test('of two that are equally good covers 0 in about 95 of 100 samples', () => {
    // Tables of 40 questions where both are right half the time: 0.4, 0.1, 0.1, 0.4.
    const random = new Random(5);
    let covered = 0;
    for (let sample = 0; sample < 1500; sample++) {
      const sums = [0, 0, 0, 0];
      for (let question = 0; question < 40; question++) {
        const place = random.uniform();
        const cell = place < 0.4 ? 0 : place < 0.5 ? 1 : place < 0.6 ? 2 : 3;
        sums[cell] = (sums[cell] ?? 0) + 1;
      }
      const [both = 0, b = 0, c = 0, neither = 0] = sums;
      const { low, high } = comparePaired(counts(both, b, c, neither));
      if (low <= 0 && high >= 0) covered += 1 / 1500;
    }

    expect(covered).toBeGreaterThan(0.93);
    expect(covered).toBeLessThan(0.99);
  });
});

describe('verdicts', () => {
  test('call a difference, with the difference of all questions', () => {
    const verdicts = judgeAnswers([counts(20, 2, 40, 10), counts(20, 40, 2, 10), counts(20, 5, 7, 10)]);

    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['different', 'different', 'cannot tell']);
    expect(verdicts[0]).toMatchObject({
      questions: 72,
      won: 40,
      lost: 2,
      difference: expect.closeTo(38 / 72, 12),
    });
  });

  test('are corrected for their number, and so are their intervals', () => {
    const close = counts(20, 1, 9, 20);
    const [alone] = judgeAnswers([close]);
    expect(alone).toMatchObject({ verdict: 'different', adjustedP: expect.closeTo(testSwaps(close), 9) });
    expect(alone?.low).toBeGreaterThan(0);

    const [first] = judgeAnswers(Array.from({ length: 5 }, () => close));

    expect(first?.verdict).toBe('cannot tell');
    expect(first?.adjustedP).toBeCloseTo(5 * testSwaps(close), 9);
    expect(first?.low).toBeLessThan(0);
  });

  test('are none where the test finds none, whatever the width of the interval', () => {
    const [better, worse] = [alike, swap(alike)].map((pair) => judgeAnswers([pair])[0]);
    expect(better).toMatchObject({ verdict: 'cannot tell', low: 0, adjustedP: 0.5 });
    expect(worse).toMatchObject({ verdict: 'cannot tell', high: 0, adjustedP: 0.5 });
  });

  test('say a difference exactly where the interval excludes 0, in every family', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyCounts, anyAttempts), { minLength: 1, maxLength: 6 }), (family) => {
        for (const { low, high, verdict, adjustedP, difference } of judgeAnswers(family)) {
          const expected = low > 0 || high < 0 ? 'different' : 'cannot tell';
          expect(verdict).toBe(expected);
          expect(adjustedP < 0.05).toBe(verdict !== 'cannot tell');
          expect(low).toBeLessThanOrEqual(difference + 1e-12);
          expect(high).toBeGreaterThanOrEqual(difference - 1e-12);
        }
      }),
      { seed: 2, numRuns: 60 },
    );
  });
});

describe('the ratio of two accuracies', () => {
  test('has an interval that excludes 1 exactly where that of the difference excludes 0', () => {
    fc.assert(
      fc.property(fc.oneof(anyCounts, anyAttempts), (pair) => {
        const { ratio, low, high } = compareRatio(pair);
        const difference = comparePaired(pair);
        expect(low).toBeLessThanOrEqual(ratio);
        expect(high).toBeGreaterThanOrEqual(ratio);
        expect(low > 1 + 1e-6).toBe(difference.low > 1e-6);
        expect(high < 1 - 1e-6).toBe(difference.high < -1e-6);
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  test('has no end where the baseline may have nothing right', () => {
    expect(compareRatio(counts(20, 5, 15, 10))).toMatchObject({ ratio: 35 / 25 });
    expect(compareRatio(counts(0, 0, 20, 20))).toMatchObject({ high: Infinity });
    expect(compareRatio(counts(1, 0, 0, 0))).toEqual({ ratio: 1, low: 0, high: Infinity });
  });

  test('is that of the shares, 1 where both have nothing right, and bounded where the baseline has', () => {
    expect(compareRatio(counts(0, 0, 0, 30)).ratio).toBe(1);
    expect(compareRatio(counts(0, 0, 20, 20)).ratio).toBe(1000);
    expect(compareRatio(counts(0, 20, 0, 20)).ratio).toBe(0);
    // Two questions are enough for an interval of the ratio, although that of their difference has no width.
    const close = (value: number) => expect.closeTo(value, 5);
    expect(compareRatio(alike)).toEqual({ ratio: 3, low: close(1.672127), high: close(14.571763) });
  });

  test('holds the true ratio in about 95 of 100 runs', () => {
    const random = new Random(7);
    const covered = Array.from({ length: 200 }, () => {
      const sums = { both: 0, onlyBaseline: 0, onlyOther: 0, neither: 0 };
      for (let question = 0; question < 100; question++) {
        const place = random.uniform();
        sums[place < 0.3 ? 'both' : place < 0.5 ? 'onlyBaseline' : place < 0.6 ? 'onlyOther' : 'neither'] +=
          1;
      }
      const { low, high } = compareRatio(counts(sums.both, sums.onlyBaseline, sums.onlyOther, sums.neither));
      return low <= 0.8 && high >= 0.8;
    });
    const share = covered.filter(Boolean).length / covered.length;
    expect(share).toBeGreaterThan(0.92);
    expect(share).toBeLessThan(0.985);
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
      return judgeAnswers([counts(sums.both, sums.onlyBaseline, sums.onlyOther, sums.neither)])[0];
    };
    const detectable = computeMedian(Array.from({ length: 150 }, () => drawn(0)?.detectable ?? 1));
    const found = Array.from({ length: 150 }, () => drawn(detectable)?.verdict === 'different');
    expect(found.filter(Boolean).length / 150).toBeGreaterThan(0.72);
    expect(found.filter(Boolean).length / 150).toBeLessThan(0.95);
  });

  test('is none where they are too few', () => {
    expect(judgeAnswers([counts(1, 0, 1, 2)])[0]?.detectable).toBeNull();
  });
});

const thirds: PairedAttempts = {
  attempts: 3,
  questions: [
    [0, 1 / 3],
    [1 / 3, 1],
    [2 / 3, 2 / 3],
    [1, 1],
    [1 / 3, 2 / 3],
    [0, 1 / 3],
  ].map(([baseline = 0, other = 0]) => ({ baseline, other })),
};

// The figures are of a second implementation of the same papers, in Python, with its normal distribution.
describe('as another implementation has them', () => {
  const close = (value: number) => expect.closeTo(value, 7);

  test.each([
    [counts(20, 2, 40, 10), 38 / 72, 0.3840831308, 0.6373143143, 0.4578827961, 0.5884436843],
    [counts(20, 1, 9, 20), 0.16, 0.0423727615, 0.2677854061, 0.0995713932, 0.2177210064],
    // One side does not vary, so there is no correlation.
    [counts(0, 0, 6, 0), 1, 0.447983956, 1, 0.7979694911, 1],
    [counts(3, 0, 4, 0), 4 / 7, 0.0815231953, 0.853981798, 0.3376732121, 0.7485465281],
    [thirds, 5 / 18, 0.0852910936, 0.4274641096, 0.1731647603, 0.3685200983],
  ])('the interval of %o', (pair, difference, low, high, lowOfOne, highOfOne) => {
    expect(comparePaired(pair)).toEqual({
      difference: close(difference),
      low: close(low),
      high: close(high),
    });
    expect(comparePaired(pair, 1)).toEqual({
      difference: close(difference),
      low: close(lowOfOne),
      high: close(highOfOne),
    });
  });

  test('verdicts of one comparison, at 5 % and at 1 %', () => {
    const close20 = [counts(20, 1, 9, 20)];
    expect(judgeAnswers(close20)).toEqual([
      {
        questions: 50,
        won: 9,
        lost: 1,
        difference: close(0.16),
        low: close(0.0161448735),
        high: close(0.2894046153),
        adjustedP: close(0.021484375),
        detectable: close(0.1675213583),
        verdict: 'different',
      },
    ]);
    expect(judgeAnswers(close20, 0.01)).toEqual([
      {
        questions: 50,
        won: 9,
        lost: 1,
        difference: close(0.16),
        low: close(-0.0130817679),
        high: close(0.3125814265),
        adjustedP: close(0.021484375),
        detectable: close(0.2063445202),
        verdict: 'cannot tell',
      },
    ]);
    expect(judgeAnswers([thirds])[0]).toMatchObject({
      low: close(-0.0119388007),
      high: close(0.4781166449),
      adjustedP: close(0.125),
      detectable: null,
    });
  });

  test('intervals of a family without a verdict are all at its first step', () => {
    const [likely, same] = [counts(20, 3, 8, 20), counts(20, 3, 3, 20)];
    const [first] = judgeAnswers([same, same, same]);
    const last = judgeAnswers([likely, likely, same])[2];
    expect([last?.low, last?.high]).toEqual([first?.low, first?.high].map((end) => close(end ?? Number.NaN)));
  });

  test('verdicts of a family, each at its step of Holm’s procedure', () => {
    const family = [counts(20, 1, 9, 20), counts(20, 2, 12, 20), counts(20, 3, 3, 20)];
    const figures = judgeAnswers(family).map(({ low, high, adjustedP, detectable, verdict }) => [
      low,
      high,
      adjustedP,
      detectable,
      verdict,
    ]);
    expect(figures).toEqual([
      [close(0.002754726), close(0.3001393759), close(0.04296875), close(0.1870087957), 'different'],
      [close(0.0049256789), close(0.3428599156), close(0.0388183594), close(0.1974777881), 'different'],
      [close(-0.1012862487), close(0.1012862487), close(1), close(0.1956668845), 'cannot tell'],
    ]);
  });
});
