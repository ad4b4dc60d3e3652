import { bisect } from '../inference/bisect.ts';
import { adjustHolm } from '../inference/holm.ts';
import { computeStudentQuantile, computeStudentTail } from '../inference/student.ts';
import { computeClusteredInterval } from './clustered.ts';

/** Degrees of freedom of the normal distribution. */
const NORMAL = Infinity;

/** Results of a baseline and another team on the same questions, each tried as often by both. */
export interface PairedAttempts {
  /** The shares of right attempts at each question, from 0 to 1. */
  readonly questions: readonly { readonly baseline: number; readonly other: number }[];
  /** Attempts at each question. */
  readonly attempts: number;
}

interface JudgedAnswers {
  readonly questions: number;
  /** Questions that the other team got right more often than the baseline, and less often. */
  readonly won: number;
  readonly lost: number;
  /** Accuracy of the other minus that of the baseline, −1 to 1, with an interval that is corrected for the comparisons as the test is. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** p-value, two-sided, after Holm's correction for all comparisons judged together. */
  readonly adjustedP: number;
  /**
   * The smallest difference, in either direction, that the same number of such questions detects in four of five runs; null if they
   * detect none.
   */
  readonly detectable: number | null;
  /** `different`: the other answers more or fewer of the same questions correctly. `cannot tell` is no evidence that they are equal. */
  readonly verdict: 'different' | 'cannot tell';
}

/**
 * Judges all comparisons of one family, which must be declared before the answers are known. Test and interval always agree: a difference
 * is called if its interval excludes 0, at the level of its step of Holm's procedure. The interval of a comparison that is not called has
 * the level of the step at which the procedure stopped, so it reaches 0. Where the exact test is more careful than the interval, the
 * interval is widened until both give the same p-value.
 */
export function judgeAnswers(comparisons: readonly PairedAttempts[], alpha = 0.05): JudgedAnswers[] {
  const tested = comparisons.map((pair) => {
    const ofInterval = Math.min(1, 2 * computeStudentTail(findReachedZ(pair), NORMAL));
    return { ofInterval, p: Math.max(ofInterval, testSwaps(pair)) };
  });
  const pValues = tested.map(({ p }) => p);
  const adjusted = adjustHolm(pValues);
  const strictest = alpha / comparisons.length;
  return comparisons.map((pair, index) => {
    const adjustedP = adjusted[index] ?? 1;
    const level = findHolmLevel(pValues, adjusted, index, alpha);
    const { ofInterval = 1, p = 1 } = tested[index] ?? {};
    const z = computeStudentQuantile((level * ofInterval) / p / 2, NORMAL);
    const isCalled = adjustedP < alpha;
    const { difference, ...reached } = comparePaired(pair, z);
    // The correlation of very few questions may leave an interval without width.
    const low = isCalled ? reached.low : Math.min(0, reached.low);
    const high = isCalled ? reached.high : Math.max(0, reached.high);
    const verdict = low > 0 || high < 0 ? 'different' : 'cannot tell';
    const error = (high - low) / (2 * z);
    const least = countFewestPairs(comparisons.length, alpha) / pair.questions.length;
    const detectable =
      Math.max(computeStudentQuantile(strictest / 2, NORMAL) * error, least) +
      computeStudentQuantile(1 - POWER, NORMAL) * error;
    return {
      questions: pair.questions.length,
      won: pair.questions.filter(({ baseline, other }) => other > baseline).length,
      lost: pair.questions.filter(({ baseline, other }) => other < baseline).length,
      difference,
      low,
      high,
      adjustedP,
      verdict,
      detectable: detectable <= 1 ? detectable : null,
    };
  });
}

/**
 * Probability of calling a true difference of the detectable size (J. Cohen, 1988, "Statistical power analysis for the behavioral
 * sciences", 2nd edition), at the strictest step of Holm's correction. The detectable size qualifies a verdict of "cannot tell": if it is
 * 40 points, the comparison showed nothing.
 */
const POWER = 0.8;

/**
 * Returns the fewest differing questions with which one of several comparisons can be significant at all after Holm's correction: with
 * n of them the smallest two-sided p-value is 2^(1 − n). The number is 9 for ten comparisons at 5 %.
 */
function countFewestPairs(comparisons: number, alpha: number): number {
  return Math.floor(1 + Math.log2(comparisons / alpha)) + 1;
}

/**
 * Returns the level of a comparison's step in Holm's procedure, or of the step at which the procedure stopped before it. Equal p-values
 * have the same step.
 */
function findHolmLevel(
  pValues: readonly number[],
  adjusted: readonly number[],
  index: number,
  alpha: number,
): number {
  const own = pValues[index] ?? 1;
  const before = pValues.filter((p, other) => p < own && (adjusted[other] ?? 1) < alpha).length;
  return alpha / (pValues.length - before);
}

/**
 * Returns the difference of two accuracies on the same questions with its interval of `z` standard deviations, 95 % by default: R. G.
 * Newcombe (1998, "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in
 * Medicine 17:22), method 10, with intervals of the accuracies that count the questions and not the attempts: see
 * {@link computeClusteredInterval}. The two are squared and added, minus the correlation of the pairs. It stays within −1..1.
 */
export function comparePaired(
  { questions, attempts }: PairedAttempts,
  z = computeStudentQuantile(0.025, NORMAL),
  /** Multiplies the baseline's accuracy: see {@link compareRatio}. */
  factor = 1,
): { readonly difference: number; readonly low: number; readonly high: number } {
  if (questions.length < 2) return { difference: mean(questions.map(subtract)), low: -1, high: 1 };
  const [base, other] = [
    questions.map(({ baseline }) => baseline),
    questions.map(({ other: own }) => own),
  ] as const;
  const [ofBase, ofOther] = [mean(base), mean(other)];
  const aroundBase = computeClusteredInterval(
    base.map((share) => share * attempts),
    attempts,
    z,
  );
  const aroundOther = computeClusteredInterval(
    other.map((share) => share * attempts),
    attempts,
    z,
  );
  const correlation = correlate(base, other);
  const reach = (up: number, down: number) =>
    Math.sqrt(Math.max(0, up ** 2 - 2 * correlation * up * down + down ** 2));
  const difference = ofOther - factor * ofBase;
  return {
    difference,
    low: Math.max(
      -factor,
      difference - reach(ofOther - aroundOther.low, factor * (aroundBase.high - ofBase)),
    ),
    high: Math.min(1, difference + reach(aroundOther.high - ofOther, factor * (ofBase - aroundBase.low))),
  };
}

/** The largest ratio of two accuracies that is distinguished from an infinite one. */
const LARGEST_RATIO = 1000;

/**
 * Returns the ratio of two accuracies on the same questions with its 95 % interval: the factors of the baseline with which the interval of
 * the difference reaches 0 (G. Zou and A. Donner, 2008, "Construction of confidence limits about effect measures: a general approach",
 * Statistics in Medicine 27:10). It excludes 1 exactly where the interval of the difference excludes 0.
 */
export function compareRatio(pair: PairedAttempts): {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
} {
  const [base, other] = [
    mean(pair.questions.map(({ baseline }) => baseline)),
    mean(pair.questions.map(({ other: own }) => own)),
  ];
  const ratio = base > 0 ? other / base : other > 0 ? LARGEST_RATIO : 1;
  if (pair.questions.length < 2) return { ratio, low: 0, high: Infinity };
  const contrast = (factor: number) => comparePaired(pair, undefined, factor);
  const find = (from: number, to: number, isBelow: (factor: number) => boolean) => {
    const [below] = bisect([from, to], HALVINGS, isBelow);
    // An end at 1 must be exactly 1, and not a billionth beside it.
    return Math.round(below * 1e6) / 1e6;
  };
  return {
    ratio,
    low: find(0, ratio, (factor) => contrast(factor).low > 0),
    high:
      contrast(LARGEST_RATIO).high >= 0
        ? Infinity
        : find(ratio, LARGEST_RATIO, (factor) => contrast(factor).high >= 0),
  };
}

/** Halvings of the range of standard deviations, after which a p-value is known to seven digits. */
const HALVINGS = 36;
/** The largest number of standard deviations that is distinguished from infinitely many. */
const LARGEST_Z = 8;

/** Returns the number of standard deviations at which the interval reaches 0. */
function findReachedZ(pair: PairedAttempts): number {
  const [within] = bisect([0, LARGEST_Z], HALVINGS, (z) => {
    const { low, high } = comparePaired(pair, z);
    return low > 0 || high < 0;
  });
  return within;
}

/** Units of attempts beyond which the exact distribution takes too long, and the normal one is as good. */
const MAX_UNITS = 20_000;

/**
 * Runs the exact test of swaps, two-sided: if both are equally good, the results of a question are as likely with the two exchanged, so
 * each question's difference has either sign with probability ½ (R. A. Fisher, 1935, "The design of experiments", section 21). Attempts at
 * one question are exchanged together. With one attempt at each it is the exact McNemar test.
 */
export function testSwaps({ questions, attempts }: PairedAttempts): number {
  const units = questions.map(({ baseline, other }) => Math.round((other - baseline) * attempts));
  const sizes = units.map(Math.abs);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const found = Math.abs(units.reduce((sum, unit) => sum + unit, 0));
  if (total > MAX_UNITS) {
    const error = Math.sqrt(sizes.reduce((sum, size) => sum + size ** 2, 0));
    return Math.min(1, 2 * computeStudentTail(found / error, NORMAL));
  }
  // If sizes of the sum s favour the other, the difference is 2s - total.
  return Math.min(1, 2 * computeExactTail(sizes, (total - found) / 2));
}

/** Returns P(sum of the sizes whose coin shows heads ≤ `bound`), by adding one size after the other to the distribution. */
function computeExactTail(sizes: readonly number[], bound: number): number {
  const probability = new Float64Array(bound + 1);
  probability[0] = 1;
  for (const size of sizes) {
    for (let sum = bound; sum >= 0; sum--) {
      const without = probability[sum] ?? 0;
      const withSize = probability[sum - size] ?? 0;
      probability[sum] = (without + withSize) / 2;
    }
  }
  return probability.reduce((total, p) => total + p, 0);
}

/** Returns Pearson's correlation; 0 where one side does not vary. */
function correlate(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  let [common, ofA, ofB] = [0, 0, 0];
  for (const [index, value] of a.entries()) {
    const [x, y] = [value - meanA, (b[index] ?? 0) - meanB];
    common += x * y;
    ofA += x ** 2;
    ofB += y ** 2;
  }
  return ofA === 0 || ofB === 0 ? 0 : common / Math.sqrt(ofA * ofB);
}

function subtract({ baseline, other }: PairedAttempts['questions'][number]): number {
  return other - baseline;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
