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
    return { ...known, low: 0, high: Infinity, pValue: 1, spread };
  }
  const variance = effects.reduce((sum, effect) => sum + (effect.mean - mean) ** 2, 0) / (n - 1);
  const error = Math.sqrt(variance / n);
  const reach = computeStudentQuantile(0.025, n - 1) * error;
  return {
    ...known,
    low: Math.exp(mean - reach),
    high: Math.exp(mean + reach),
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
export function computeTail(distance: number, error: number, invocations: number): number {
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
