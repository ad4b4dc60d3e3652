import type { Interval } from './inference/bootstrap.ts';

export interface StoppingRule {
  /** Rounds go on until every interval is at most this wide to each side, e.g. 0.02 for ±2 %. */
  relativeHalfWidth: number;
  /** Below this, a narrow interval is luck; see {@link fewestRounds}. */
  minRounds: number;
  maxRounds: number;
  /** For all rounds together. It is kept, not overrun, and it comes before `minRounds`. */
  budgetMs: number;
}

export interface Progress {
  rounds: number;
  elapsedMs: number;
  /** The ratios so far, that of the null comparison among them: it is the noise floor, and a wide floor hides differences. */
  intervals: readonly Interval[];
}

export type StopReason = 'precise' | 'rounds' | 'budget' | 'interrupted';

/**
 * Whether the rounds so far are enough, and why; null while they are not.
 *
 * Only the widths count, never the ratios or p-values. Who looks after every round and stops at the first p < 0.05 finds a
 * difference between equal arms in far more than 5 % of sessions (P. Armitage, C. McPherson and B. Rowe, 1969, "Repeated
 * significance tests on accumulating data"). A width says how noisy the rounds are and hardly which arm is ahead, so
 * looking at it after every round costs next to nothing (J. Kruschke, 2015, "Doing Bayesian Data Analysis", 13.3);
 * `stopping.test.ts` measures both.
 */
export function stopReason(
  { rounds, elapsedMs, intervals }: Progress,
  rule: StoppingRule,
): StopReason | null {
  if (rounds >= rule.maxRounds) return 'rounds';
  // Another round of average length must still fit.
  const nextEndsMs = rounds === 0 ? elapsedMs : elapsedMs + elapsedMs / rounds;
  if (nextEndsMs > rule.budgetMs) return 'budget';
  const precise = intervals.every((interval) => relativeHalfWidth(interval) <= rule.relativeHalfWidth);
  return precise && rounds >= rule.minRounds ? 'precise' : null;
}

/** How far the interval of a ratio reaches to each side of its (geometric) middle: 0.02 for 0.98 to 1.0196. */
export function relativeHalfWidth({ low, high }: Interval): number {
  return Math.sqrt(high / low) - 1;
}

/**
 * The fewest rounds in which one of so many comparisons can be significant at all after Holm's correction: with n pairs the
 * smallest two-sided p-value is 2^(1 − n). 9 for ten comparisons at 5 %.
 */
export function fewestRounds(comparisons: number, alpha = 0.05): number {
  return Math.floor(1 + Math.log2(comparisons / alpha)) + 1;
}
