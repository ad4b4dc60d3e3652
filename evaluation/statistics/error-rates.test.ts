/** How often the whole procedure is wrong, and how often it finds what is there, on simulated rounds with known truth. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../core/system/random.ts';
import { binomialBound } from '../../core/testing/binomial.ts';
import { holm } from './inference/holm.ts';
import { median } from './inference/quantile.ts';
import { type Comparison, compare } from './paired.ts';
import { type Noise, normal, roundsOf } from './testing/noise.ts';
import { signedRankPower, verdictPower } from './testing/power.ts';
import { judgeTimes } from './verdict.ts';

const QUIET: Noise = { sigma: 0.05, drift: 0.02 };
/** One run in twelve is interrupted for half its time, rounds drift, and 70 % of the noise stays from run to run. */
const ROUGH: Noise = { sigma: 0.05, drift: 0.03, autocorrelation: 0.7, interrupted: 0.08, interruption: 0.6 };

/** Sessions of `n` rounds: every arm against `json`, and `json` against itself. */
function* sessionsOf(count: number, n: number, costs: Record<string, number>, noise: Noise, seed: number) {
  const random = new Random(seed);
  for (let session = 0; session < count; session++) {
    const { times, nullTimes } = roundsOf(n, { json: 1, ...costs }, 'json', noise, random);
    const against = (other: readonly number[] = []): Comparison =>
      compare(times.json ?? [], other, { resamples: 500 });
    yield {
      comparisons: Object.keys(costs).map((arm) => against(times[arm])),
      nullTest: () => against(nullTimes),
    };
  }
}

describe('1,000 comparisons of equal arms', () => {
  const bound = binomialBound(1000, 0.05);

  it.each([
    { machine: 'quiet', noise: QUIET, n: 30 },
    { machine: 'interrupted, drifting, autocorrelated', noise: ROUGH, n: 30 },
    { machine: 'the same in few rounds', noise: ROUGH, n: 12 },
  ])('find a difference in at most one of twenty: $machine', ({ noise, n }) => {
    const seed = 31;
    const found = { test: 0, interval: 0, verdict: 0 };
    for (const { comparisons, nullTest } of sessionsOf(1000, n, { cbor: 1 }, noise, seed)) {
      for (const { pValue, low, high, verdict } of judgeTimes(comparisons, nullTest())) {
        found.test += pValue < 0.05 ? 1 : 0;
        found.interval += low > 1 || high < 1 ? 1 : 0;
        found.verdict += verdict === 'no detectable difference' ? 0 : 1;
      }
    }
    expect(found.test, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
    expect(found.interval, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
    expect(found.verdict, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
    // The test is not merely deaf: it uses the 5 % that it is allowed.
    expect(found.test, `seed ${seed}`).toBeGreaterThanOrEqual(bound.low);
  });
});

it('ten equal arms: any difference at all is found in at most 5 % of 400 sessions', () => {
  const seed = 32;
  const costs = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`arm${i}`, 1]));
  const found = { uncorrected: 0, corrected: 0, verdict: 0 };
  for (const { comparisons, nullTest } of sessionsOf(400, 15, costs, ROUGH, seed)) {
    const pValues = comparisons.map(({ pValue }) => pValue);
    const judged = judgeTimes(comparisons, nullTest());
    found.uncorrected += pValues.some((p) => p < 0.05) ? 1 : 0;
    found.corrected += holm(pValues).some((p) => p < 0.05) ? 1 : 0;
    found.verdict += judged.some(({ verdict }) => verdict !== 'no detectable difference') ? 1 : 0;
  }
  const bound = binomialBound(400, 0.05);
  expect(found.corrected, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
  expect(found.verdict, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
  // Without the correction, luck is found far more often.
  expect(found.uncorrected, `seed ${seed}`).toBeGreaterThan(2 * bound.high);
});

describe('a planted difference of 3 %', () => {
  const seed = 33;
  // A pair has the noise of two runs.
  const shift = Math.log(1.03) / (QUIET.sigma * Math.SQRT2);

  it.each([30, 50])('is found by the test as often as %i rounds promise', (n) => {
    let found = 0;
    for (const { comparisons } of sessionsOf(400, n, { cbor: 1.03 }, QUIET, seed)) {
      for (const { pValue, ratio } of comparisons) found += pValue < 0.05 && ratio > 1 ? 1 : 0;
    }
    const { low, high } = binomialBound(400, signedRankPower(n, shift));
    expect(found, `seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(found, `seed ${seed}`).toBeLessThanOrEqual(high);
  });

  it('is called slower as often as 120 rounds promise, and never faster', () => {
    const n = 120;
    const verdicts = { slower: 0, faster: 0, 'no detectable difference': 0 };
    for (const { comparisons, nullTest } of sessionsOf(200, n, { cbor: 1.03 }, QUIET, seed)) {
      for (const { verdict } of judgeTimes(comparisons, nullTest())) verdicts[verdict] += 1;
    }
    const { low, high } = binomialBound(200, verdictPower(n, shift));
    expect(verdicts.slower, `seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(verdicts.slower, `seed ${seed}`).toBeLessThanOrEqual(high);
    expect(verdicts.faster).toBe(0);
  });
});

describe('the smallest difference that rounds can show', () => {
  const seed = 35;

  it.each([
    { n: 30, others: 0 },
    { n: 120, others: 0 },
    { n: 30, others: 9 },
  ])('is called in about four of five sessions of $n rounds, beside $others others', ({ n, others }) => {
    const equal = Object.fromEntries(Array.from({ length: others }, (_, i) => [`arm${i}`, 1]));
    const judgedIn = (cbor: number) =>
      [...sessionsOf(200, n, { cbor, ...equal }, QUIET, seed)].map(
        ({ comparisons, nullTest }) => judgeTimes(comparisons, nullTest())[0],
      );
    const detectable = median(judgedIn(1).map((judged) => judged?.detectable ?? Infinity));
    const found = judgedIn(detectable).filter((judged) => judged?.verdict === 'slower').length / 200;
    expect(found, `seed ${seed}, ${detectable}`).toBeGreaterThan(0.7);
    expect(found, `seed ${seed}, ${detectable}`).toBeLessThan(0.92);
  });
});

it('copies that differ all session long: the noise floor holds back most, fresh processes nearly all', () => {
  const seed = 34;
  const sessions = 200;
  const random = new Random(seed);
  /** Fifteen rounds of one arm, in which each process is faster or slower by itself, about 5 %. */
  const series = (fresh: boolean) => {
    let process = 0;
    return Array.from({ length: 15 }, (_, round) => {
      if (fresh || round === 0) process = 0.05 * normal(random);
      return Math.exp(process + 0.03 * normal(random));
    });
  };
  const found = (fresh: boolean) => {
    const counts = { test: 0, verdict: 0 };
    for (let session = 0; session < sessions; session++) {
      const [baseline, other, again] = [series(fresh), series(fresh), series(fresh)];
      const options = { resamples: 500 };
      const nullTest = compare(baseline, again, options);
      for (const { adjustedP, verdict } of judgeTimes([compare(baseline, other, options)], nullTest)) {
        counts.test += adjustedP < 0.05 ? 1 : 0;
        counts.verdict += verdict === 'no detectable difference' ? 0 : 1;
      }
    }
    return counts;
  };
  const lasting = found(false);
  expect(lasting.test, `seed ${seed}`).toBeGreaterThan(0.6 * sessions);
  expect(lasting.verdict, `seed ${seed}`).toBeLessThan(0.5 * lasting.test);
  expect(found(true).verdict, `seed ${seed}`).toBeLessThanOrEqual(binomialBound(sessions, 0.05).high);
});
