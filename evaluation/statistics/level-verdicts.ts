import { holm } from './inference/holm.ts';
import { studentQuantile } from './inference/student.ts';
import { type LevelComparison, MIN_INVOCATIONS, tailBeyond } from './levels.ts';

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

export interface JudgedLevels extends LevelComparison {
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
export function judgeLevels(
  comparisons: readonly LevelComparison[],
  { margin = DEFAULT_MARGIN, alpha = 0.05 }: JudgeOptions = {},
): JudgedLevels[] {
  if (!(margin > 0 && margin < Infinity)) throw new RangeError(`expected a margin above 0, got ${margin}`);
  const differs = holm(comparisons.map(({ pValue }) => pValue));
  const equals = holm(comparisons.map((comparison) => equivalenceP(comparison, margin)));
  const level = alpha / comparisons.length;
  return comparisons.map((comparison, index) => {
    const [adjustedP, adjustedEquivalenceP] = [differs[index] ?? 1, equals[index] ?? 1];
    const verdict =
      adjustedEquivalenceP < alpha ? 'equivalent' : adjustedP < alpha ? 'different' : 'cannot tell';
    const isOpen = verdict === 'cannot tell';
    return {
      ...{ ...comparison, adjustedP, adjustedEquivalenceP, margin, verdict },
      detectable: detectableRatio(comparison, level),
      needed: isOpen ? neededInvocations(comparison, margin, level) : comparison.invocations,
    };
  });
}

/** Of the two one-sided tests: how likely such data are although the ratio lies outside the margin; 1 below the stated minimum. */
function equivalenceP(comparison: LevelComparison, margin: number): number {
  const error = errorOf(comparison);
  const within = Math.log1p(margin) - Math.abs(Math.log(comparison.ratio));
  return error === Infinity ? 1 : tailBeyond(within, error, comparison.invocations);
}

/** Standard error of the logarithm of the ratio; ∞ below the stated minimum. */
function errorOf({ invocations, low, high }: LevelComparison): number {
  if (low === 0) return Infinity;
  return Math.log(high / low) / (2 * studentQuantile(0.025, invocations - 1));
}

/** By J. Cohen (1988, "Statistical power analysis for the behavioral sciences", 2nd edition), for the strictest of Holm's steps. */
function detectableRatio(comparison: LevelComparison, level: number): number {
  const error = errorOf(comparison);
  if (error === Infinity) return Infinity;
  return Math.exp(stepsTo(comparison.invocations, level / 2, 1 - POWER) * error);
}

function neededInvocations(comparison: LevelComparison, margin: number, level: number): number {
  const { invocations, ratio } = comparison;
  const error = errorOf(comparison);
  if (error === Infinity) return Math.max(MIN_INVOCATIONS, invocations);
  const apart = Math.abs(Math.log(ratio));
  const within = Math.log1p(margin) - apart;
  const gives = (n: number) => {
    const then = error * Math.sqrt(invocations / n);
    // Both one-sided tests have to reject, so each gets half of what may be missed.
    return (
      stepsTo(n, level / 2, 1 - POWER) * then <= apart || stepsTo(n, level, (1 - POWER) / 2) * then <= within
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
function stepsTo(n: number, falseCalls: number, misses: number): number {
  return studentQuantile(falseCalls, n - 1) + studentQuantile(misses, n - 1);
}
