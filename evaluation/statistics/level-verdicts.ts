import { adjustHolm } from './inference/holm.ts';
import { computeStudentQuantile } from './inference/student.ts';
import { computeTail, MIN_INVOCATIONS, type SampleComparison } from './levels.ts';

/** Ratios within 1/1.05 to 1.05 count as equal unless another margin is given. */
export const DEFAULT_MARGIN = 0.05;

/** How often a true difference of the detectable size is called, and a true equality shown after the invocations that are needed. */
const POWER = 0.8;
/** Nobody waits for more fresh processes of each arm; it also bounds the search. */
const MAX_NEEDED = 1000;

/**
 * `different`: the ratio is not 1. `equivalent`: it is shown to lie within the margin, which is stated; the ratio may be different from
 * 1 as well, by less than anybody asked about. `cannot tell`: neither is shown, which is no evidence of either.
 */
type LevelVerdict = 'different' | 'equivalent' | 'cannot tell';

export interface JudgedComparison extends SampleComparison {
  /** p-values after Holm's correction for all pairs judged together. */
  readonly adjustedP: number;
  readonly adjustedEquivalenceP: number;
  readonly margin: number;
  /** The smallest ratio above 1 (below 1: its inverse) that such invocations call in four of five measurements; ∞ where they call none. */
  readonly detectable: number;
  readonly verdict: LevelVerdict;
  /**
   * Invocations of each arm that would give a verdict in four of five measurements if the ratio is what it seems to be; as many as
   * there were where there is one. ∞ where it is more than anybody would wait for.
   */
  readonly needed: number;
}

interface JudgeOptions {
  /** Ratios within 1 / (1 + margin) to 1 + margin are equivalent; 0.05 by default. */
  readonly margin?: number;
  /** Probability of calling any difference at all where there is none, and of calling any pair equivalent that is not; 0.05 by default. */
  readonly alpha?: number;
}

/**
 * Verdicts over all pairs that one table shows. A pair is equivalent where both one-sided tests reject (D. Schuirmann, 1987, "A
 * comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of average bioavailability"),
 * different where the two-sided test does; each corrected for the number of pairs (Holm). Where both hold, the ratio differs from 1 by
 * less than the margin, and that is the answer to the question that the margin asks.
 *
 * No null test has a say in it: a baseline that by luck differs from itself would silence differences that are there, and one that
 * does not would prove nothing. Measure it as one more pair, and report how often it is called.
 */
export function judgeComparisons(
  comparisons: readonly SampleComparison[],
  { margin = DEFAULT_MARGIN, alpha = 0.05 }: JudgeOptions = {},
): JudgedComparison[] {
  if (!(margin > 0 && margin < Infinity)) throw new RangeError(`expected a margin above 0, got ${margin}`);
  const differs = adjustHolm(comparisons.map(({ pValue }) => pValue));
  const equals = adjustHolm(comparisons.map((comparison) => computeEquivalenceP(comparison, margin)));
  const level = alpha / comparisons.length;
  return comparisons.map((comparison, index) => {
    const [adjustedP, adjustedEquivalenceP] = [differs[index] ?? 1, equals[index] ?? 1];
    const verdict =
      adjustedEquivalenceP < alpha ? 'equivalent' : adjustedP < alpha ? 'different' : 'cannot tell';
    const isOpen = verdict === 'cannot tell';
    return {
      ...{ ...comparison, adjustedP, adjustedEquivalenceP, margin, verdict },
      detectable: computeDetectableRatio(comparison, level),
      needed: isOpen ? computeNeededInvocations(comparison, margin, level) : comparison.invocations,
    };
  });
}

/** Of the two one-sided tests: how likely such data are although the ratio lies outside the margin; 1 below the stated minimum. */
function computeEquivalenceP(comparison: SampleComparison, margin: number): number {
  const error = computeError(comparison);
  const within = Math.log1p(margin) - Math.abs(Math.log(comparison.ratio));
  return error === Infinity ? 1 : computeTail(within, error, comparison.invocations);
}

/** Standard error of the logarithm of the ratio; ∞ below the stated minimum. */
function computeError({ invocations, low, high }: SampleComparison): number {
  if (low === 0) return Infinity;
  return Math.log(high / low) / (2 * computeStudentQuantile(0.025, invocations - 1));
}

/** By J. Cohen (1988, "Statistical power analysis for the behavioral sciences", 2nd edition), for the strictest of Holm's steps. */
function computeDetectableRatio(comparison: SampleComparison, level: number): number {
  const error = computeError(comparison);
  if (error === Infinity) return Infinity;
  return Math.exp(computeErrorSteps(comparison.invocations, level / 2, 1 - POWER) * error);
}

function computeNeededInvocations(comparison: SampleComparison, margin: number, level: number): number {
  const { invocations, ratio } = comparison;
  const error = computeError(comparison);
  if (error === Infinity) return Math.max(MIN_INVOCATIONS, invocations);
  const apart = Math.abs(Math.log(ratio));
  const within = Math.log1p(margin) - apart;
  const gives = (n: number) => {
    const then = error * Math.sqrt(invocations / n);
    // Both one-sided tests have to reject, so each gets half of what may be missed.
    return (
      computeErrorSteps(n, level / 2, 1 - POWER) * then <= apart ||
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

/** Standard errors between two truths that a test of `n` invocations tells apart, false calls and misses as often as given. */
function computeErrorSteps(n: number, falseCalls: number, misses: number): number {
  return computeStudentQuantile(falseCalls, n - 1) + computeStudentQuantile(misses, n - 1);
}
