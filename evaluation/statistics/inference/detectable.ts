import type { Interval } from './bootstrap.ts';
import { normalQuantile } from './normal.ts';

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
export function detectableDifference(
  { low, high }: Interval,
  { comparisons, alpha, least }: { comparisons: number; alpha: number; least: number },
): number {
  const error = (high - low) / (2 * normalQuantile(0.025));
  const needed = Math.max(normalQuantile(alpha / comparisons / 2) * error, least);
  return needed + normalQuantile(1 - POWER) * error;
}

/**
 * The fewest pairs in which one of so many comparisons can be significant at all after Holm's correction: with n pairs the
 * smallest two-sided p-value is 2^(1 − n). 9 for ten comparisons at 5 %.
 */
export function fewestPairs(comparisons: number, alpha = 0.05): number {
  return Math.floor(1 + Math.log2(comparisons / alpha)) + 1;
}
