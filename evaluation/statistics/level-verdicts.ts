import { adjustHolm } from './inference/holm.ts';
import { computeStudentQuantile } from './inference/student.ts';
import { computeTail, MIN_INVOCATIONS, type SampleComparison } from './levels.ts';

/** Probability of calling any difference if there is none, and of calling any pair equivalent that is not. */
const ALPHA = 0.05;
/** Probability of calling a true difference of the detectable size, and of showing a true equality after the needed invocations. */
const POWER = 0.8;
/** Maximum fresh processes of each arm that are worth proposing; it also bounds the search. */
const MAX_NEEDED = 1000;

/**
 * `different`: the ratio is not 1. `equivalent`: it is shown to lie within the stated margin; it may still differ from 1 by less than that.
 * `cannot tell`: neither is shown, which is no evidence of either.
 */
type LevelVerdict = 'different' | 'equivalent' | 'cannot tell';

export interface JudgedComparison extends SampleComparison {
  /** p-values after Holm's correction for all pairs judged together. */
  readonly adjustedP: number;
  readonly adjustedEquivalenceP: number;
  readonly margin: number;
  /** The smallest ratio above 1 (below 1: its inverse) that such invocations call in four of five measurements; ∞ if they call none. */
  readonly detectable: number;
  readonly verdict: LevelVerdict;
  /** The ratio of the baseline to itself, where it was measured: see {@link judgeComparisons}. */
  readonly nullArm?: NullArm | undefined;
  /**
   * Invocations of each arm that would give a verdict in four of five measurements if the true ratio is the measured one; the actual number
   * if there is a verdict. ∞ if it exceeds the maximum.
   */
  readonly needed: number;
}

/** The ratio of a baseline to itself, which should be 1. */
type NullArm = Pick<SampleComparison, 'ratio' | 'low' | 'high'>;

/**
 * Judges all pairs of one table. A pair is equivalent if both one-sided tests reject (D. Schuirmann, 1987, "A comparison of the two
 * one-sided tests procedure and the power approach for assessing the equivalence of average bioavailability"), and different if the
 * two-sided test does; each is corrected for the number of pairs (Holm). If both hold, the ratio differs from 1 by less than the margin, so
 * the verdict is `equivalent`.
 *
 * With a null arm, a difference in either direction is called only if it is beyond the null arm's interval: otherwise the machine
 * produced as large a difference between equal arms. If the null arm itself is called different, no pair is called equivalent either, since
 * the cause may also have hidden a difference. This costs some power, but readers need not apply a null test themselves.
 */
export function judgeComparisons(
  comparisons: readonly SampleComparison[],
  {
    margin,
    nullArm,
  }: {
    /** Ratios within 1 / (1 + margin) to 1 + margin count as equivalent. */
    readonly margin: number;
    /** The ratio of the baseline to itself, measured as one more arm of the same rounds. */
    readonly nullArm?: NullArm | undefined;
  },
): JudgedComparison[] {
  if (!(margin > 0 && margin < Infinity)) throw new RangeError(`expected a margin above 0, got ${margin}`);
  const differs = adjustHolm(comparisons.map(({ pValue }) => pValue));
  const equals = adjustHolm(comparisons.map((comparison) => computeEquivalenceP(comparison, margin)));
  const level = ALPHA / comparisons.length;
  const shown = nullArm && { ratio: nullArm.ratio, low: nullArm.low, high: nullArm.high };
  const isNullApart = shown !== undefined && isApart(shown, margin);
  return comparisons.map((comparison, index) => {
    const [adjustedP, adjustedEquivalenceP] = [differs[index] ?? 1, equals[index] ?? 1];
    const isEquivalent = adjustedEquivalenceP < ALPHA && !isNullApart;
    const isDifferent = adjustedP < ALPHA && !(shown !== undefined && isWithinNull(comparison.ratio, shown));
    const verdict = isEquivalent ? 'equivalent' : isDifferent ? 'different' : 'cannot tell';
    const isOpen = verdict === 'cannot tell';
    return {
      ...comparison,
      adjustedP,
      adjustedEquivalenceP,
      margin,
      verdict,
      nullArm: shown,
      detectable: Math.max(
        computeDetectableRatio(comparison, level),
        shown === undefined ? 1 : computeNullReach(shown),
      ),
      needed: !isOpen
        ? comparison.invocations
        : isNullApart
          ? Infinity
          : computeNeededInvocations(comparison, margin, level, shown && computeNullReach(shown)),
    };
  });
}

/** Tells if a ratio, or its inverse, is no further from 1 than the interval of the baseline against itself. */
export function isWithinNull(ratio: number, nullArm: Pick<NullArm, 'low' | 'high'>): boolean {
  return Math.max(ratio, 1 / ratio) <= computeNullReach(nullArm);
}

/** Tells if an interval excludes 1 and is not within the margin either. */
function isApart({ low, high }: NullArm, margin: number): boolean {
  return (low > 1 || high < 1) && Math.max(high, 1 / low) > 1 + margin;
}

/** Returns the largest ratio, or inverse, within the interval of the baseline against itself. */
function computeNullReach({ low, high }: Pick<NullArm, 'low' | 'high'>): number {
  return Math.max(high, 1 / low);
}

/**
 * Returns the p-value of the two one-sided tests: the probability of such data if the ratio lies outside the margin; 1 below the stated
 * minimum.
 */
function computeEquivalenceP(comparison: SampleComparison, margin: number): number {
  const error = computeError(comparison);
  const within = Math.log1p(margin) - Math.abs(Math.log(comparison.ratio));
  return error === Infinity ? 1 : computeTail(within, error, comparison.invocations);
}

/** Returns the standard error of the logarithm of the ratio; ∞ below the stated minimum. */
function computeError({ invocations, low, high }: SampleComparison): number {
  if (low === 0) return Infinity;
  return Math.log(high / low) / (2 * computeStudentQuantile(0.025, invocations - 1));
}

/**
 * Returns the detectable ratio by J. Cohen (1988, "Statistical power analysis for the behavioral sciences", 2nd edition), for the strictest
 * step of Holm's correction.
 */
function computeDetectableRatio(comparison: SampleComparison, level: number): number {
  const error = computeError(comparison);
  if (error === Infinity) return Infinity;
  return Math.exp(computeErrorSteps(comparison.invocations, level / 2, 1 - POWER) * error);
}

function computeNeededInvocations(
  comparison: SampleComparison,
  margin: number,
  level: number,
  nullReach = 1,
): number {
  const { invocations, ratio } = comparison;
  const error = computeError(comparison);
  if (error === Infinity) return Math.max(MIN_INVOCATIONS, invocations);
  const apart = Math.abs(Math.log(ratio));
  const within = Math.log1p(margin) - apart;
  const gives = (n: number) => {
    const then = error * Math.sqrt(invocations / n);
    const isBeyondNull = Math.log(nullReach) * Math.sqrt(invocations / n) < apart;
    // Both one-sided tests have to reject, so each gets half of the allowed misses.
    return (
      (isBeyondNull && computeErrorSteps(n, level / 2, 1 - POWER) * then <= apart) ||
      computeErrorSteps(n, level, (1 - POWER) / 2) * then <= within
    );
  };
  let [below, enough] = [invocations, invocations + 1];
  while (!gives(enough)) {
    if (enough >= MAX_NEEDED) return Infinity;
    [below, enough] = [enough, Math.min(2 * enough, MAX_NEEDED)];
  }
  while (enough - below > 1) {
    const middle = Math.floor((below + enough) / 2);
    if (gives(middle)) enough = middle;
    else below = middle;
  }
  return enough;
}

/**
 * Returns the number of standard errors between two truths that a test of `n` invocations separates at the given rates of false calls and
 * misses.
 */
function computeErrorSteps(n: number, falseCalls: number, misses: number): number {
  return computeStudentQuantile(falseCalls, n - 1) + computeStudentQuantile(misses, n - 1);
}
