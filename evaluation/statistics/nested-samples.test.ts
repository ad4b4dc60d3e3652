import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareNestedSamples, judgeComparisons, MIN_INVOCATIONS } from './nested-samples.ts';
import { compareLevels } from './testing/compare-levels.ts';

/** Ratios within 1/1.05 to 1.05 count as equal. */
const margin = 0.05;

/** An invocation a value, each of its rounds a little around it. */
const invocations = (values: readonly number[], rounds = [0.98, 1, 1.02]) =>
  values.map((value) => rounds.map((round) => value * round));
const EQUAL = invocations([1, 1, 1, 1, 1]);

describe('two arms of fresh processes', () => {
  it('are compared as W. S. Gosset compared two kinds of seed', () => {
    // Student, 1908, "The probable error of a mean", Biometrika 6:1: additional hours of sleep, ten patients; R: t.test.
    const hours = [1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4];
    const found = compareNestedSamples(
      hours.map(() => [1, 1, 1]),
      hours.map((hour) => Array.from({ length: 3 }, () => Math.exp(hour))),
    );
    expect(Math.log(found.ratio)).toBeCloseTo(1.58, 12);
    expect(Math.log(found.low)).toBeCloseTo(0.7001142, 6);
    expect(Math.log(found.high)).toBeCloseTo(2.4598858, 6);
    expect(found.pValue).toBeCloseTo(0.00283289, 7);
  });

  it('are different, equivalent within the margin, or cannot be told apart', () => {
    const other = (values: readonly number[]) => compareLevels(EQUAL, invocations(values));
    expect(other([1.2, 1.21, 1.19, 1.2, 1.22])).toMatchObject({ verdict: 'different', needed: 5 });
    expect(other([1.01, 0.99, 1, 1.01, 1])).toMatchObject({ verdict: 'equivalent', margin: 0.05 });
    expect(other([0.8, 1.3, 1, 1.2, 0.9])).toMatchObject({ verdict: 'cannot tell' });
  });

  it('that differ by less than the margin are equivalent, and the interval still says that they differ', () => {
    const slightly = [1.02, 1.021, 1.019, 1.02, 1.02];
    const found = compareLevels(EQUAL, invocations(slightly));
    expect(found.verdict).toBe('equivalent');
    expect(found.low).toBeGreaterThan(1);
    expect(compareLevels(EQUAL, invocations(slightly), { margin: 0.01 }).verdict).toBe('different');
  });

  it('that are measured too little are not judged', () => {
    expect(MIN_INVOCATIONS).toBe(5);
    const far = [2, 2.01, 2, 1.99];
    const unknown = { low: 0, high: Infinity, pValue: 1, verdict: 'cannot tell', detectable: Infinity };
    expect(compareLevels(invocations([1, 1, 1, 1]), invocations(far))).toMatchObject({
      ...unknown,
      needed: 5,
    });
    const twoRounds = [0.99, 1.01];
    expect(
      compareLevels(invocations([1, 1, 1, 1, 1], twoRounds), invocations([2, ...far], twoRounds)),
    ).toMatchObject({ ...unknown, ratio: expect.closeTo(2, 2) });
    const threeRounds = [0.99, 1, 1.01];
    expect(
      compareLevels(invocations([1, 1, 1, 1, 1], threeRounds), invocations([2, ...far], threeRounds)).verdict,
    ).toBe('different');
    expect(compareLevels(EQUAL, invocations([2, ...far])).verdict).toBe('different');
  });

  it('that a clock cannot tell apart are equivalent, and those that never vary are different', () => {
    expect(compareLevels(EQUAL, EQUAL)).toMatchObject({ ratio: 1, pValue: 1, verdict: 'equivalent' });
    expect(compareLevels(EQUAL, invocations([2, 2, 2, 2, 2]))).toMatchObject({
      pValue: 0,
      verdict: 'different',
    });
  });

  it('need more invocations the more these vary, and no number of them is given where nobody would wait', () => {
    const needed = (by: number) =>
      compareLevels(EQUAL, invocations([-by, by, -by / 2, by / 2, 0].map(Math.exp))).needed;
    expect(needed(0.1)).toBeGreaterThan(10);
    expect(needed(0.3)).toBeGreaterThan(4 * needed(0.1));
    expect(needed(3)).toBe(Infinity);
  });

  it('give the inverse when they are swapped, whatever slows both', () => {
    const value = fc.double({ min: 0.5, max: 2, noNaN: true });
    const arm = fc.array(fc.array(value, { minLength: 4, maxLength: 4 }), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(arm, arm, arm, (a, b, machine) => {
        const slowed = (of: number[][]) => of.map((own, i) => own.map((v, j) => v * (machine[i]?.[j] ?? 1)));
        const forth = compareLevels(a, b);
        const back = compareLevels(slowed(b), slowed(a));
        expect(back.ratio * forth.ratio).toBeCloseTo(1, 9);
        expect(back.low * forth.high).toBeCloseTo(1, 6);
        expect(back.pValue).toBeCloseTo(forth.pValue, 6);
        expect(back.verdict).toBe(forth.verdict);
      }),
      { numRuns: 50 },
    );
  });

  it('are refused where they are no pairs, and where a value is no measurement', () => {
    for (const [baseline, other] of [
      [[], []],
      [EQUAL, EQUAL.slice(1)],
      [EQUAL, EQUAL.map((own, i) => (i === 3 ? own.slice(1) : own))],
      [[[]], [[]]],
      [[[1, 0, 1]], [[1, 1, 1]]],
      [[[1, 1, 1]], [[1, Number.NaN, 1]]],
    ] satisfies [number[][], number[][]][])
      expect(() => compareLevels(baseline, other)).toThrow(RangeError);
    expect(() => compareLevels(EQUAL, EQUAL, { margin: 0 })).toThrow(RangeError);
  });
});

describe('pairs judged together', () => {
  it('are corrected for their number', () => {
    const close = compareNestedSamples(EQUAL, invocations([1.3, 1.1, 1.25, 1.02, 1.2]));
    expect(close.pValue).toBeLessThan(0.05);
    expect(judgeComparisons([close], { margin })[0]?.verdict).toBe('different');

    const [first] = judgeComparisons(
      Array.from({ length: 9 }, () => close),
      { margin },
    );

    expect(first).toMatchObject({ verdict: 'cannot tell', adjustedP: Math.min(1, 9 * close.pValue) });
    expect(first?.detectable).toBeGreaterThan(
      judgeComparisons([close], { margin })[0]?.detectable ?? Infinity,
    );
  });

  it('are none where there is none', () => {
    expect(judgeComparisons([], { margin })).toEqual([]);
  });
});

describe('a baseline that was compared with itself', () => {
  // The figures of an evening on a busy machine: json against itself, and mcp against json.
  const FAILED = { ratio: 1.137, low: 1.02, high: 1.27 };
  const times = (ratio: number) =>
    compareNestedSamples(EQUAL, invocations([0.99, 1, 1.01, 1, 1].map((f) => f * ratio)));
  const judgeBeside = (ratio: number, nullArm?: { ratio: number; low: number; high: number }) =>
    judgeComparisons([times(ratio)], { margin, nullArm })[0];

  it.each([1.17, 1.27, 1 / 1.17, 1 / 1.26])(
    'hides a ratio of %d within its interval, in both directions',
    (ratio) => {
      expect(judgeBeside(ratio)?.verdict).toBe('different');
      expect(judgeBeside(ratio, FAILED)).toMatchObject({
        verdict: 'cannot tell',
        nullArm: FAILED,
        needed: Infinity,
      });
    },
  );

  it.each([1.3, 2, 1 / 1.3])('leaves a larger one of %d, and is named beside it', (ratio) => {
    expect(judgeBeside(ratio, FAILED)).toMatchObject({ verdict: 'different', nullArm: FAILED });
  });

  it('shows no equality where it is not equal to itself', () => {
    expect(judgeBeside(1.001)?.verdict).toBe('equivalent');
    expect(judgeBeside(1.001, FAILED)?.verdict).toBe('cannot tell');
    expect(judgeBeside(1.001, { ratio: 1.02, low: 1.01, high: 1.03 })?.verdict).toBe('equivalent');
    expect(judgeBeside(1.001, { ratio: 1, low: 0.9, high: 1.1 })?.verdict).toBe('equivalent');
  });

  it('is the smallest difference that can be shown', () => {
    expect(judgeBeside(1.17, FAILED)?.detectable).toBeGreaterThanOrEqual(1.27);
    expect(judgeBeside(1.17, { ratio: 0.9, low: 0.8, high: 1.01 })?.detectable).toBeGreaterThanOrEqual(1.25);
  });

  it('is worth more processes where it is merely imprecise', () => {
    const wide = { ratio: 1, low: 0.8, high: 1.25 };
    const judged = judgeBeside(1.17, wide);
    expect(judged?.verdict).toBe('cannot tell');
    // The interval shrinks with the square root of their number.
    expect(judged?.needed).toBeGreaterThan((5 * Math.log(1.25) ** 2) / Math.log(1.18) ** 2);
    expect(judged?.needed).toBeLessThan(20);
  });

  it('without enough processes hides everything', () => {
    expect(judgeBeside(9, { ratio: 1, low: 0, high: Infinity })?.verdict).toBe('cannot tell');
  });
});
