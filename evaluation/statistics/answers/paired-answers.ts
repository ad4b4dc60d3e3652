import type { Interval } from '../inference/bootstrap.ts';
import { computeWilson } from '../inference/confidence.ts';
import { adjustHolm } from '../inference/holm.ts';
import { computeNormalQuantile } from '../inference/normal.ts';

/** The same questions put to a baseline and to another: how many only one of them, both, and neither got right. */
export interface PairedCounts {
  readonly both: number;
  readonly onlyBaseline: number;
  readonly onlyOther: number;
  readonly neither: number;
}

/** `other` gets more of the same questions right, or fewer, or it cannot be told. */
type AnswerVerdict = 'better' | 'worse' | 'no detectable difference';

export interface JudgedAnswers {
  readonly questions: number;
  /** Accuracy of the other less that of the baseline, −1 to 1, with its 95 % interval. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** Exact McNemar test, two-sided, after Holm's correction for all comparisons judged together. */
  readonly adjustedP: number;
  /** The smallest difference, to either side, that as many such questions show in four of five runs; ∞ where they show none. */
  readonly detectable: number;
  readonly verdict: AnswerVerdict;
}

/**
 * Verdicts over all that one table compares with one baseline. As for times, a difference is called only where the corrected test
 * and the interval agree: a reader who sees an interval across 0 beside "better" would rightly trust neither.
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
    // Where the other is never the worse of the two, it must still be the better one so many times.
    const least = countFewestPairs(comparisons.length, alpha) / questions;
    const detectable = computeDetectable({ low, high }, { comparisons: comparisons.length, alpha, least });
    return {
      ...{ questions, difference, low, high, adjustedP, verdict },
      detectable: detectable <= 1 ? detectable : Infinity,
    };
  });
}

/** How often a true difference of the detectable size is called. */
const POWER = 0.8;

/**
 * The smallest true difference that data like these show in four of five sessions (J. Cohen, 1988, "Statistical power analysis for the
 * behavioral sciences", 2nd edition), by the standard error that a 95 % interval stands for. Whoever reads that no difference was
 * detected needs it: where it is 40 %, nothing was learned.
 *
 * @param comparisons judged together: it is the difference that the strictest of Holm's steps lets through
 * @param least that an estimate must reach whatever its error
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
 * The fewest pairs in which one of so many comparisons can be significant at all after Holm's correction: with n pairs the
 * smallest two-sided p-value is 2^(1 − n). 9 for ten comparisons at 5 %.
 */
function countFewestPairs(comparisons: number, alpha: number): number {
  return Math.floor(1 + Math.log2(comparisons / alpha)) + 1;
}

/**
 * The exact McNemar test, two-sided: of the questions that only one got right, each would be either's with probability ½ (the binomial
 * test of Q. McNemar, 1947, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12:2).
 * 1 where there are none.
 */
export function testMcNemar({ onlyBaseline, onlyOther }: PairedCounts): number {
  const n = onlyBaseline + onlyOther;
  const fewer = Math.min(onlyBaseline, onlyOther);
  // C(n, k) / 2ⁿ from one k to the next, in logarithms: 2ⁿ leaves the numbers that there are.
  let logTerm = -n * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= fewer; k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((n - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}

/**
 * The difference of two accuracies on the same questions with its 95 % interval: R. G. Newcombe (1998, "Improved confidence intervals
 * for the difference between binomial proportions based on paired data", Statistics in Medicine 17:22), method 10: the two Wilson
 * intervals squared and added, with what the pairs have in common taken off. It stays within −1..1.
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
  // Corrected for continuity where the answers go together.
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
