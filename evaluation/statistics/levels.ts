import { computeStudentQuantile, computeStudentTail } from './inference/student.ts';
import { computeTrimmedMean } from './inference/trimmed-mean.ts';

/** With fewer fresh processes of each arm, nothing is called: Student's t for three already takes 4.3 standard errors. */
export const MIN_INVOCATIONS = 5;
/** With fewer rounds in a process, one interruption is a third of what is known of it. */
const MIN_ROUNDS = 3;
/** What fresh processes of two arms say about the ratio `other / baseline`. Above 1, the other takes more. */
export interface SampleComparison {
  /** Fresh processes of each arm. */
  readonly invocations: number;
  /** Fewest rounds in one of them. */
  readonly rounds: number;
  /** Geometric mean over the invocations of what their rounds, trimmed, come to. */
  readonly ratio: number;
  /** 95 % interval of the ratio; 0 to ∞ below the stated minimum. */
  readonly low: number;
  readonly high: number;
  /** Two-sided, Student's t of the invocations; 1 below the stated minimum. */
  readonly pValue: number;
  /** Standard deviations of the logarithm of the ratio, so 0.05 is about 5 %: between invocations, and between rounds of one. */
  readonly spread: { readonly invocations: number; readonly rounds: number };
}

/**
 * Compares two arms of which fresh processes were measured side by side: `baseline[i][j]` and `other[i][j]` are the j-th round of the
 * i-th invocation of each, positive, of one unit. Invocations that ran at the same time should have the same place: then what slowed the
 * machine meanwhile cancels. So should rounds; where they were not measured side by side, any order will do, as long as it does not
 * follow the values.
 *
 * Ratio, interval and tests are by the level that varies most. Each invocation is one value: the trimmed mean of the logarithms of its
 * rounds' ratios. What differs from process to process (memory layout, order of compilation, cores) and what differs from round to round
 * are then both in the spread of these values, in the proportion in which they matter for the mean (T. Kalibera and R. Jones, 2013,
 * "Rigorous benchmarking in reasonable time", section 6), and Student's t of them holds its level from few invocations on.
 *
 * Rounds are not pooled, although that would give the interval more degrees of freedom where processes do not differ. Whether they do
 * cannot be told from five: pooling where an F test finds nothing was simulated, and wherever it gains power worth having it calls
 * 6 to 9 % of equal arms different. More invocations gain the same honestly: eight have nine tenths of the power of all their rounds.
 *
 * @param fewestRounds below which nothing is called; 1 for what a process has only once, such as its first use
 * @throws RangeError for arms that are no pairs, and for what is no positive, finite measurement
 */
export function compareNestedSamples(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
  fewestRounds = MIN_ROUNDS,
): SampleComparison {
  const effects = pairInvocations(baseline, other).map(computeTrimmedMean);
  return combineEffects(effects, Math.min(...baseline.map(({ length }) => length)), fewestRounds);
}

/** An invocation's logarithmic effect, with the variance that its rounds give it. */
export interface InvocationEffect {
  readonly mean: number;
  readonly variance: number;
}

/** What effects come to, an invocation an effect; the ratio is that of their mean. See {@link compareNestedSamples}. */
export function combineEffects(
  effects: readonly InvocationEffect[],
  rounds: number,
  fewestRounds = MIN_ROUNDS,
): SampleComparison {
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
 * The probability that Student's t of `invocations` values exceeds `distance`, of so large a standard error. Values of a clock that shows
 * too little may all be equal: then any distance is infinitely many standard errors.
 */
export function computeTail(distance: number, error: number, invocations: number): number {
  return computeStudentTail(distance === 0 ? 0 : distance / error, invocations - 1);
}

/** Logarithms of the ratios, round by round, an invocation a list. */
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
