import type { Interval } from './inference/bootstrap.ts';
import { detectableDifference } from './inference/detectable.ts';
import { holm } from './inference/holm.ts';
import type { Comparison } from './paired.ts';
import { fewestRounds } from './stopping.ts';

type TimeVerdict = 'faster' | 'slower' | 'no detectable difference';
type ByteVerdict = 'smaller' | 'larger' | 'equal';

export interface JudgedTime extends Comparison {
  /** The p-value after Holm's correction for all comparisons judged together. */
  adjustedP: number;
  /** The smallest ratio above 1 (below 1: its inverse) that such rounds show in four of five sessions; ∞ where they show none. */
  detectable: number;
  verdict: TimeVerdict;
}

export interface JudgedBytes extends Interval {
  ratio: number;
  verdict: ByteVerdict;
}

/**
 * The ratios that the baseline shows against itself in this session, made symmetric: [1/f, f], where f is the end of the
 * null comparison's interval that is further from 1. If two copies of one thing can differ by 12 %, so can two things that
 * cost the same, in either direction.
 */
export function noiseFloor(nullTest: Interval): Interval {
  const factor = Math.max(nullTest.high, 1 / nullTest.low);
  return { low: 1 / factor, high: factor };
}

/**
 * Verdicts over all times that one table compares with one baseline. A difference is called only where three things agree,
 * because each guards against an error that the others let through:
 *
 * - the adjusted p-value is below `alpha`: with many arms, some differ by luck;
 * - the interval excludes 1: rank test and median are two questions, and a reader who sees an interval across 1 beside
 *   "slower" would rightly trust neither;
 * - the ratio lies outside the noise floor: p-values and intervals know only the noise *between rounds*. What stays the
 *   same all session long (where a process's memory came to lie, which core it got) differs between two copies of the
 *   same program (T. Mytkowicz et al., 2009, "Producing wrong data without doing anything obviously wrong!"), and no number
 *   of rounds makes that insignificant; the null comparison, measured with a second copy, shows it.
 *
 * One second copy shows one such difference, not the largest possible: where copies differ all session long, about a third
 * of equal arms are still called (`error-rates.test.ts`). Rounds that start fresh processes turn this into noise between
 * rounds, which all three know.
 */
export function judgeTimes(
  comparisons: readonly Comparison[],
  nullTest: Comparison,
  alpha = 0.05,
): JudgedTime[] {
  const floor = noiseFloor(nullTest);
  const adjusted = holm(comparisons.map((comparison) => comparison.pValue));
  return comparisons.map((comparison, index) => {
    const adjustedP = adjusted[index] ?? 1;
    const verdict = verdictOf(comparison, adjustedP < alpha, floor);
    return {
      ...comparison,
      adjustedP,
      detectable: detectableRatio(comparison, floor, comparisons.length, alpha),
      verdict,
    };
  });
}

function detectableRatio(
  { n, low, high }: Comparison,
  floor: Interval,
  comparisons: number,
  alpha: number,
): number {
  if (n < fewestRounds(comparisons, alpha)) return Infinity;
  const logarithms = { low: Math.log(low), high: Math.log(high) };
  return Math.exp(detectableDifference(logarithms, { comparisons, alpha, least: Math.log(floor.high) }));
}

function verdictOf({ ratio, low, high }: Comparison, significant: boolean, floor: Interval): TimeVerdict {
  if (significant && high < 1 && ratio < floor.low) return 'faster';
  if (significant && low > 1 && ratio > floor.high) return 'slower';
  return 'no detectable difference';
}

/**
 * Compares exact byte sums of the same packets. A deterministic adapter writes them the same way every time, so there is
 * nothing to estimate: one byte more is larger, and the interval is the ratio itself.
 */
export function judgeBytes(baseline: number, other: number): JudgedBytes {
  for (const bytes of [baseline, other]) {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new RangeError(`expected an exact, positive number of bytes, got ${bytes}`);
    }
  }
  const ratio = other / baseline;
  const verdict = other < baseline ? 'smaller' : other > baseline ? 'larger' : 'equal';
  return { ratio, low: ratio, high: ratio, verdict };
}
