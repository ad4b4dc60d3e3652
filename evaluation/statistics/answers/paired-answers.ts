import type { Interval } from '../inference/bootstrap.ts';
import { computeWilson } from '../inference/confidence.ts';
import { adjustHolm } from '../inference/holm.ts';
import { computeNormalQuantile } from '../inference/normal.ts';

/** Results of a baseline and another team on the same questions: questions that both, only one, or neither answered correctly. */
export interface PairedCounts {
  readonly both: number;
  readonly onlyBaseline: number;
  readonly onlyOther: number;
  readonly neither: number;
}

/** `better` or `worse`: `other` answers more or fewer of the same questions correctly. */
type AnswerVerdict = 'better' | 'worse' | 'no detectable difference';

export interface JudgedAnswers {
  readonly questions: number;
  /** Accuracy of the other minus that of the baseline, −1 to 1, with its 95 % interval. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** Exact McNemar test, two-sided, after Holm's correction for all comparisons judged together. */
  readonly adjustedP: number;
  /**
   * The smallest difference, in either direction, that the same number of such questions detects in four of five runs; ∞ if they detect
   * none.
   */
  readonly detectable: number;
  readonly verdict: AnswerVerdict;
}

/**
 * Judges all comparisons of one table with the same baseline. As for times, a difference is called only if the corrected test and the
 * interval agree: a reader who sees "better" beside an interval that contains 0 would rightly trust neither.
 */
export function judgeAnswers(comparisons: readonly PairedCounts[], alpha = 0.05): JudgedAnswers[] {
  const adjusted = adjustHolm(comparisons.map(testMcNemar));
  return comparisons.map((counts, index) => {
    const adjustedP = adjusted[index] ?? 1;
    const { difference, low, high } = comparePaired(counts);
    const isCalled = adjustedP < alpha;
    const verdict =
      isCalled && low > 0 ? 'better' : isCalled && high < 0 ? 'worse' : 'no detectable difference';
    const questions = sumPairs(counts);
    // Even if the other never does worse, it must do better on this many questions.
    const least = countFewestPairs(comparisons.length, alpha) / questions;
    const detectable = computeDetectable({ low, high }, { comparisons: comparisons.length, alpha, least });
    return {
      questions,
      difference,
      low,
      high,
      adjustedP,
      verdict,
      detectable: detectable <= 1 ? detectable : Infinity,
    };
  });
}

/** Probability of calling a true difference of the detectable size. */
const POWER = 0.8;

/**
 * Returns the smallest true difference that data like these show in four of five sessions (J. Cohen, 1988, "Statistical power analysis for
 * the behavioral sciences", 2nd edition), from the standard error that a 95 % interval implies. It qualifies a verdict of "no detectable
 * difference": if it is 40 %, the comparison showed nothing.
 *
 * @param comparisons comparisons judged together: the result holds for the strictest step of Holm's correction
 * @param least smallest estimate that can be significant, whatever its error
 */
function computeDetectable(
  { low, high }: Interval,
  { comparisons, alpha, least }: { comparisons: number; alpha: number; least: number },
): number {
  const error = (high - low) / (2 * computeNormalQuantile(0.025));
  const needed = Math.max(computeNormalQuantile(alpha / comparisons / 2) * error, least);
  return needed + computeNormalQuantile(1 - POWER) * error;
}

/**
 * Returns the fewest pairs with which one of several comparisons can be significant at all after Holm's correction: with n pairs the
 * smallest two-sided p-value is 2^(1 − n). 9 for ten comparisons at 5 %.
 */
function countFewestPairs(comparisons: number, alpha: number): number {
  return Math.floor(1 + Math.log2(comparisons / alpha)) + 1;
}

/**
 * Runs the exact McNemar test, two-sided: each question that only one side answered correctly is either side's with probability ½ (the
 * binomial test of Q. McNemar, 1947, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12:2).
 * Returns 1 if there are no such questions.
 */
export function testMcNemar({ onlyBaseline, onlyOther }: PairedCounts): number {
  const n = onlyBaseline + onlyOther;
  const fewer = Math.min(onlyBaseline, onlyOther);
  // C(n, k) / 2ⁿ is computed from one k to the next, in logarithms, because 2ⁿ exceeds the range of a number.
  let logTerm = -n * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= fewer; k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((n - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}

/**
 * Returns the difference of two accuracies on the same questions with its 95 % interval: R. G. Newcombe (1998, "Improved confidence
 * intervals for the difference between binomial proportions based on paired data", Statistics in Medicine 17:22), method 10: the two Wilson
 * intervals are squared and added, minus the correlation of the pairs. It stays within −1..1.
 */
export function comparePaired(counts: PairedCounts): { difference: number; low: number; high: number } {
  const { both, onlyBaseline, onlyOther, neither } = counts;
  const n = sumPairs(counts);
  if (n === 0) return { difference: 0, low: -1, high: 1 };
  const other = { right: both + onlyOther, ...computeWilson(both + onlyOther, n) };
  const base = { right: both + onlyBaseline, ...computeWilson(both + onlyBaseline, n) };
  const difference = (other.right - base.right) / n;
  const margins = other.right * (n - other.right) * base.right * (n - base.right);
  const common = both * neither - onlyBaseline * onlyOther;
  // Positive correlation is corrected for continuity.
  const corrected = common > n / 2 ? common - n / 2 : Math.min(common, 0);
  const correlation = margins === 0 ? 0 : corrected / Math.sqrt(margins);
  const reach = (up: number, down: number) =>
    Math.sqrt(Math.max(0, up ** 2 - 2 * correlation * up * down + down ** 2));
  return {
    difference,
    low: difference - reach(other.right / n - other.low, base.high - base.right / n),
    high: difference + reach(other.high - other.right / n, base.right / n - base.low),
  };
}

function sumPairs({ both, onlyBaseline, onlyOther, neither }: PairedCounts): number {
  return both + onlyBaseline + onlyOther + neither;
}
