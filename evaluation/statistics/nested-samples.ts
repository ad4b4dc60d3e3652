import { adjustHolm } from './inference/holm.ts';
import { computeStudentQuantile, computeStudentTail } from './inference/student.ts';
import { computeTrimmedMean } from './inference/trimmed-mean.ts';

/** Fewest fresh processes of each arm for a verdict: Student's t for three already takes 4.3 standard errors. */
export const MIN_INVOCATIONS = 5;
/** Fewest rounds of a process for a verdict: with fewer, one interruption affects a third of its data. */
export const MIN_ROUNDS = 3;

/** The ratio `other / baseline` of two arms, measured in fresh processes. Above 1, the other takes more. */
export interface SampleComparison {
  /** Fresh processes of each arm. */
  readonly invocations: number;
  /** Fewest rounds of an invocation. */
  readonly rounds: number;
  /** Geometric mean over the invocations of the trimmed means of their rounds. */
  readonly ratio: number;
  /** 95 % interval of the ratio; 0 to ∞ below the stated minimum. */
  readonly low: number;
  readonly high: number;
  /** Standard error of the logarithm of the ratio; ∞ below the stated minimum. */
  readonly error: number;
  /** p-value, two-sided, Student's t of the invocations; 1 below the stated minimum. */
  readonly pValue: number;
  /** Standard deviations of the logarithm of the ratio, so 0.05 is about 5 %: between invocations, and between rounds of one. */
  readonly spread: { readonly invocations: number; readonly rounds: number };
}

/**
 * Compares two arms whose fresh processes were measured side by side: `baseline[i][j]` and `other[i][j]` are the j-th round of the i-th
 * invocation of each, positive and of one unit. Invocations that ran at the same time should have the same index, so that slowdowns of the
 * machine cancel. So should rounds; if they were not measured side by side, any order will do that does not follow the values.
 *
 * Ratio, interval and tests are by the level that varies most. Each invocation is one value: the trimmed mean of the logarithms of its
 * rounds' ratios. Variation from process to process (memory layout, order of compilation, cores) and from round to round are then both in
 * the spread of these values, in the proportion in which they matter for the mean (T. Kalibera and R. Jones, 2013, "Rigorous benchmarking
 * in reasonable time", section 6), and Student's t of them holds its level from few invocations on.
 *
 * Rounds are not pooled, although that would give the interval more degrees of freedom if processes do not differ. Five processes cannot
 * show whether they do: pooling after an F test that finds nothing was simulated, and wherever it gains useful power it calls 6 to 9 % of
 * equal arms different. More invocations gain the same honestly: eight have nine tenths of the power of all their rounds.
 *
 * @param fewestRounds rounds below which there is no verdict; 1 for a measurement that a process makes once, such as its first use
 * @throws RangeError if the arms have different numbers of invocations or rounds, or a measurement is not positive and finite
 */
export function compareNestedSamples(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
  fewestRounds = MIN_ROUNDS,
): SampleComparison {
  // Each invocation has a logarithmic effect, with the variance that its rounds give it.
  const effects = pairInvocations(baseline, other).map(computeTrimmedMean);
  const rounds = Math.min(...baseline.map(({ length }) => length));
  const n = effects.length;
  const mean = effects.reduce((sum, effect) => sum + effect.mean, 0) / n;
  const ofRounds = effects.reduce((sum, effect) => sum + effect.variance, 0) / n;
  const known = { invocations: n, rounds, ratio: Math.exp(mean) };
  if (n < MIN_INVOCATIONS || rounds < fewestRounds) {
    const spread = { invocations: 0, rounds: Math.sqrt(ofRounds * rounds) };
    return { ...known, low: 0, high: Infinity, error: Infinity, pValue: 1, spread };
  }
  const variance = effects.reduce((sum, effect) => sum + (effect.mean - mean) ** 2, 0) / (n - 1);
  const error = Math.sqrt(variance / n);
  const reach = computeStudentQuantile(0.025, n - 1) * error;
  return {
    ...known,
    low: Math.exp(mean - reach),
    high: Math.exp(mean + reach),
    error,
    pValue: Math.min(1, 2 * computeTail(Math.abs(mean), error, n)),
    spread: {
      invocations: Math.sqrt(Math.max(0, variance - ofRounds)),
      rounds: Math.sqrt(ofRounds * rounds),
    },
  };
}

/**
 * Returns the probability that Student's t of `invocations` values exceeds `distance`, given the standard error. A coarse clock may give
 * equal values: then any distance is infinitely many standard errors.
 */
function computeTail(distance: number, error: number, invocations: number): number {
  return computeStudentTail(distance === 0 ? 0 : distance / error, invocations - 1);
}

/** Returns the logarithms of the ratios, round by round, one list for each invocation. */
function pairInvocations(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
): number[][] {
  if (baseline.length !== other.length || baseline.length === 0) {
    const got = `${baseline.length} and ${other.length}`;
    throw new RangeError(`expected as many invocations of both arms, at least one; got ${got}`);
  }
  return baseline.map((own, invocation) => {
    const others = other[invocation] ?? [];
    if (own.length !== others.length || own.length === 0) {
      const got = `${own.length} and ${others.length}`;
      throw new RangeError(
        `invocation ${invocation + 1}: expected as many rounds of both arms, at least one; got ${got}`,
      );
    }
    return own.map((value, round) => toLog(others[round]) - toLog(value));
  });
}

function toLog(value = Number.NaN): number {
  if (!(value > 0 && value < Infinity)) {
    throw new RangeError(`expected positive, finite measurements, got ${value}`);
  }
  return Math.log(value);
}

/** Probability of calling any difference if there is none, and of calling any pair equivalent that is not. */
const ALPHA = 0.05;
/** Probability of calling a true difference of the detectable size, and of showing a true equality after the needed invocations. */
const POWER = 0.8;
/** Maximum fresh processes of each arm that are worth proposing; it also bounds the search. */
const MAX_NEEDED = 1000;

export interface JudgedComparison extends SampleComparison {
  /** p-values after Holm's correction for all pairs judged together. */
  readonly adjustedP: number;
  readonly adjustedEquivalenceP: number;
  readonly margin: number;
  /** The smallest ratio above 1 (below 1: its inverse) that such invocations call in four of five measurements; ∞ if they call none. */
  readonly detectable: number;
  /**
   * `different`: the ratio is not 1. `equivalent`: it is shown to lie within the stated margin; it may still differ from 1 by less than that.
   * `cannot tell`: neither is shown, which is no evidence of either.
   */
  readonly verdict: 'different' | 'equivalent' | 'cannot tell';
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
  const { error, ratio, invocations } = comparison;
  const within = Math.log1p(margin) - Math.abs(Math.log(ratio));
  return error === Infinity ? 1 : computeTail(within, error, invocations);
}

/**
 * Returns the detectable ratio by J. Cohen (1988, "Statistical power analysis for the behavioral sciences", 2nd edition), for the strictest
 * step of Holm's correction.
 */
function computeDetectableRatio({ invocations, error }: SampleComparison, level: number): number {
  if (error === Infinity) return Infinity;
  return Math.exp(computeErrorSteps(invocations, level / 2, 1 - POWER) * error);
}

function computeNeededInvocations(
  { invocations, ratio, error }: SampleComparison,
  margin: number,
  level: number,
  nullReach = 1,
): number {
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
