/** Error rates and power of the two-level comparison, on simulated measurements whose true ratio is known. */

import { Random } from '@gaia-mesh/core/system/random.ts';
import { binomialBound } from '@gaia-mesh/core/testing/binomial.ts';
import { describe, expect, it } from 'vitest';
import { computeMedian } from './inference/quantile.ts';
import { compareNestedSamples, judgeComparisons } from './nested-samples.ts';
import { compareLevels } from './testing/compare-levels.ts';
import { normal } from './testing/noise.ts';
import { NOISES, type TwoLevelNoise, twoLevels } from './testing/two-level-noise.ts';
import { evaluateThreshold, parseThreshold } from './thresholds.ts';

type Design = Parameters<typeof twoLevels>[0];
type Measurement = ReturnType<typeof twoLevels>;

const SMALL: Design = { invocations: 5, rounds: 5 };
const EIGHT: Design = { invocations: 8, rounds: 8 };
const NORMAL = NOISES.normal;

/** `sessions` measurements of one design, the same in every run. */
function* measurements(
  sessions: number,
  design: Design,
  noise: TwoLevelNoise = NORMAL,
  seed = 41,
): Generator<Measurement> {
  const random = new Random(seed);
  for (let session = 0; session < sessions; session++) yield twoLevels(design, noise, random);
}

function rateOf(all: Iterable<Measurement>, isHit: (one: Measurement) => boolean): number {
  const hits = Array.from(all, isHit);
  return hits.filter(Boolean).length / hits.length;
}

const measured = ({ baseline, other }: Measurement) => compareNestedSamples(baseline, other);
const judged = ({ baseline, other }: Measurement) => compareLevels(baseline, other);

describe.each(Object.entries(NOISES))('equal arms under %s', (_, noise) => {
  const bound = binomialBound(1000, 0.05).high / 1000;

  it.each([0, 0.05])(
    'are called different at most once in twenty times; processes differ by %d',
    (effect) => {
      const design = { ...SMALL, invocationEffect: effect };
      const found = rateOf(measurements(1000, design, noise), (one) => measured(one).pValue < 0.05);
      expect(found).toBeLessThanOrEqual(bound);
    },
  );
});

describe.each([0, 0.05])('the 95 %% interval, where processes differ by %d', (invocationEffect) => {
  it.each([SMALL, EIGHT])('of $invocations invocations holds the ratio in 93 to 97 of 100', (design) => {
    const planted = { ...design, ratio: 1.1, invocationEffect };
    const covered = rateOf(measurements(3000, planted), (one) => {
      const { low, high } = measured(one);
      return low <= 1.1 && high >= 1.1;
    });
    expect(covered).toBeGreaterThan(0.93);
    expect(covered).toBeLessThan(0.97);
  });
});

it('an effect that lasts a process is called by a test of all rounds, and not by one of invocations', () => {
  const design = { ...SMALL, invocationEffect: 0.05 };
  expect(rateOf(measurements(400, design), isCalledByRounds)).toBeGreaterThan(0.2);
});

describe('a difference of 10 %', () => {
  /** Noise at which the test of all rounds finds a difference of 10 % in nine of ten measurements. */
  const noise = (random: Random) => () => [0.17 * normal(random), 0.17 * normal(random)] as const;
  const planted = { ...EIGHT, ratio: 1.1 };

  it('is called nearly as often as by the best test that knows processes to be alike', () => {
    const found = rateOf(measurements(800, planted, noise), (one) => judged(one).verdict === 'different');
    const best = rateOf(measurements(800, planted, noise), isCalledByRounds);
    expect(best).toBeGreaterThan(0.85);
    expect(best).toBeLessThan(0.95);
    expect(found).toBeGreaterThan(0.85 * best);
  });

  it('is never called to the wrong side, or equivalent more often than one of twenty', () => {
    const wrong = rateOf(measurements(800, { ...planted, invocationEffect: 0.05 }), (one) => {
      const { verdict, ratio } = judged(one);
      return verdict === 'equivalent' || (verdict === 'different' && ratio < 1);
    });
    expect(wrong).toBeLessThanOrEqual(0.05);
  });
});

describe('a ratio at the margin', () => {
  it.each([SMALL, EIGHT])(
    'is called equivalent in at most one of twenty: $invocations invocations',
    (design) => {
      const atMargin = { ...design, ratio: 1.05, invocationEffect: 0.02 };
      const found = rateOf(measurements(1000, atMargin), (one) => judged(one).verdict === 'equivalent');
      expect(found).toBeLessThanOrEqual(binomialBound(1000, 0.05).high / 1000);
    },
  );
});

it('of ten equal pairs any is called different in at most one of twenty tables', () => {
  const tables = 300;
  const random = new Random(43);
  const called = Array.from({ length: tables }, () => {
    const pairs = Array.from({ length: 10 }, () => twoLevels(SMALL, NORMAL, random)).map(measured);
    return judgeComparisons(pairs, { margin: 0.05 }).some(({ adjustedP }) => adjustedP < 0.05);
  });
  expect(called.filter(Boolean).length).toBeLessThanOrEqual(binomialBound(tables, 0.05).high);
});

describe('what a measurement says of itself', () => {
  const design: Design = { ...EIGHT, invocationEffect: 0.04 };

  it('the smallest difference is called in about four of five', () => {
    const ratio = computeMedian(Array.from(measurements(300, design), (one) => judged(one).detectable));
    const found = rateOf(
      measurements(600, { ...design, ratio }, NORMAL, 44),
      (one) => measured(one).pValue < 0.05,
    );
    expect(found).toBeGreaterThan(0.72);
    expect(found).toBeLessThan(0.88);
  });

  it('so many invocations as are needed give a verdict in most', () => {
    const undecided = Array.from(measurements(300, design), judged).filter(
      ({ verdict }) => verdict === 'cannot tell',
    );
    expect(undecided.length).toBeGreaterThan(100);
    const invocations = Math.round(computeMedian(undecided.map(({ needed }) => needed)));
    const decided = rateOf(
      measurements(300, { ...design, invocations }, NORMAL, 45),
      (one) => judged(one).verdict !== 'cannot tell',
    );
    expect(decided).toBeGreaterThan(0.7);
  });

  it('the spread is told apart by level', () => {
    const spreads = Array.from(measurements(300, design), (one) => measured(one).spread);
    // A pair has the noise of two.
    expect(computeMedian(spreads.map(({ rounds }) => rounds))).toBeCloseTo(0.05 * Math.SQRT2, 1.5);
    expect(computeMedian(spreads.map(({ invocations }) => invocations))).toBeCloseTo(0.04 * Math.SQRT2, 1.5);
  });
});

describe('a condition on a time', () => {
  const failures = (text: string, design: Design) =>
    rateOf(measurements(600, { ...design, invocationEffect: 0.05 }), (one) => {
      const { ratio, low, high, margin, verdict } = judged(one);
      const measuredRatio = { ratio, low, high, margin, isEquivalent: verdict === 'equivalent' };
      const figures = { arms: ['json', 'cbor'], exact: () => undefined, measured: () => measuredRatio };
      return evaluateThreshold(parseThreshold(text), figures).outcome === 'failed';
    });

  it('fails on identical pairs in at most one of twenty', () => {
    for (const condition of ['cbor.time > 1x json', 'cbor.time < 1x json', 'cbor.time > 1.1x json'])
      expect(failures(condition, SMALL), condition).toBeLessThanOrEqual(0.05);
  });

  it('fails where it is far from true', () => {
    expect(failures('cbor.time > 1.1x json', { ...EIGHT, ratio: 1.4 })).toBeGreaterThan(0.9);
  });
});

/** A test that takes every round for a process of its own. */
function isCalledByRounds({ baseline, other }: Measurement): boolean {
  const pool = (arm: Measurement['baseline']) => arm.flat().map((value) => [value]);
  return compareNestedSamples(pool(baseline), pool(other), 1).pValue < 0.05;
}
