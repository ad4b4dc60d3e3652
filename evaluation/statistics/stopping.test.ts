import { describe, expect, it } from 'vitest';
import { Random } from '../../core/system/random.ts';
import { binomialBound } from '../../core/testing/binomial.ts';
import { signedRank } from './inference/signed-rank.ts';
import { compare } from './paired.ts';
import { fewestRounds, relativeHalfWidth, stopReason } from './stopping.ts';
import { simulate } from './testing/noise.ts';

const RULE = { relativeHalfWidth: 0.02, minRounds: 10, maxRounds: 40, budgetMs: 1000 };
const NARROW = { low: 0.99, high: 1.01 };
const WIDE = { low: 0.9, high: 1.1 };

it('stops when every interval is narrow, not before the fewest rounds', () => {
  const progress = { elapsedMs: 100, intervals: [NARROW, NARROW] };
  expect(stopReason({ ...progress, rounds: 9 }, RULE)).toBeNull();
  expect(stopReason({ ...progress, rounds: 10 }, RULE)).toBe('precise');
  expect(stopReason({ ...progress, rounds: 10, intervals: [NARROW, WIDE] }, RULE)).toBeNull();
});

it('asks for the width alone, not for which arm is ahead', () => {
  const ahead = { low: 2 * NARROW.low, high: 2 * NARROW.high };
  expect(stopReason({ rounds: 10, elapsedMs: 100, intervals: [ahead] }, RULE)).toBe('precise');
});

it('stops after the most rounds', () => {
  expect(stopReason({ rounds: 39, elapsedMs: 100, intervals: [WIDE] }, RULE)).toBeNull();
  expect(stopReason({ rounds: 40, elapsedMs: 100, intervals: [WIDE] }, RULE)).toBe('rounds');
});

it('stops before a round that the budget does not hold, even below the fewest rounds', () => {
  expect(stopReason({ rounds: 4, elapsedMs: 800, intervals: [WIDE] }, RULE)).toBeNull();
  expect(stopReason({ rounds: 4, elapsedMs: 801, intervals: [WIDE] }, RULE)).toBe('budget');
  expect(stopReason({ rounds: 0, elapsedMs: 1000, intervals: [] }, RULE)).toBeNull();
  expect(stopReason({ rounds: 0, elapsedMs: 1001, intervals: [] }, RULE)).toBe('budget');
});

it('measures widths on the scale of ratios', () => {
  expect(relativeHalfWidth({ low: 0.5, high: 2 })).toBe(1);
  expect(relativeHalfWidth({ low: 0.98, high: 0.98 * 1.02 ** 2 })).toBeCloseTo(0.02, 12);
  expect(relativeHalfWidth({ low: 0, high: Infinity })).toBe(Infinity);
});

it('knows how many rounds a significant result takes at least', () => {
  for (const [comparisons, rounds] of [
    [1, 6],
    [10, 9],
    [100, 12],
  ] as const) {
    expect(fewestRounds(comparisons)).toBe(rounds);
    expect(comparisons * 2 ** (1 - rounds)).toBeLessThan(0.05);
    expect(comparisons * 2 ** (2 - rounds)).toBeGreaterThanOrEqual(0.05);
  }
});

describe('looking after every few rounds', () => {
  const seed = 21;
  const sessions = 400;
  const bound = binomialBound(sessions, 0.05);
  const noise = { sigma: 0.03, drift: 0.02, autocorrelation: 0.5, interrupted: 0.05, interruption: 0.5 };
  const rule = { relativeHalfWidth: 0.02, minRounds: 12, maxRounds: 60, budgetMs: Infinity };
  const lookAt = (rounds: number) => rounds >= rule.minRounds && rounds % 6 === 0;

  it('finds differences between equal arms no more often when the width decides when to stop', () => {
    const random = new Random(seed);
    let found = 0;
    const reasons = new Set<string>();
    for (let session = 0; session < sessions; session++) {
      for (const { times } of simulate({ json: 1, cbor: 1 }, 'json', noise, random)) {
        const { json = [], cbor = [] } = times;
        if (!lookAt(json.length)) continue;
        const comparison = compare(json, cbor, { resamples: 500 });
        const reason = stopReason({ rounds: json.length, elapsedMs: 0, intervals: [comparison] }, rule);
        if (reason === null) continue;
        reasons.add(reason);
        found += comparison.pValue < 0.05 ? 1 : 0;
        break;
      }
    }
    expect(found, `seed ${seed}`).toBeLessThanOrEqual(bound.high);
    expect(reasons.has('precise')).toBe(true);
  });

  it('finds them three times as often when significance decides', () => {
    const random = new Random(seed);
    let found = 0;
    for (let session = 0; session < sessions; session++) {
      for (const { times } of simulate({ json: 1, cbor: 1 }, 'json', noise, random)) {
        const { json = [], cbor = [] } = times;
        if (!lookAt(json.length)) continue;
        const significant = signedRank(json.map((time, i) => Math.log(time / (cbor[i] ?? 0)))).pValue < 0.05;
        found += significant ? 1 : 0;
        if (significant || json.length >= rule.maxRounds) break;
      }
    }
    expect(found, `seed ${seed}`).toBeGreaterThan(1.5 * bound.high);
  });
});
