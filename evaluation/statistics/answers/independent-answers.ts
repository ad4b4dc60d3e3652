import { computeWilson } from '../inference/confidence.ts';

/** Correct answers among a number of tries. */
export interface Tally {
  readonly right: number;
  readonly tries: number;
}

/**
 * Runs Fisher's exact test, one-sided: returns the probability that, if there is no difference, at least this many of all right answers are
 * among `more` (R. A. Fisher, 1935, "The logic of inductive inference", Journal of the Royal Statistical Society 98:1). Returns 1 without
 * tries.
 */
export function testFisher(more: Tally, fewer: Tally): number {
  const right = more.right + fewer.right;
  const total = more.tries + fewer.tries;
  let sum = 0;
  for (let k = more.right; k <= Math.min(right, more.tries); k++)
    sum += Math.exp(logChoose(more.tries, k) + logChoose(fewer.tries, right - k) - logChoose(total, right));
  return Math.min(1, sum);
}

/** Probability with which a detectable fall is found (J. Cohen, 1988, "Statistical power analysis for the behavioral sciences"). */
const POWER = 0.8;
const STEPS = 100;

/**
 * Returns the smallest chance that {@link testFisher} distinguishes from 0 at the level `alpha` in four of five analyses, to two decimals: the
 * chance before a fall to 0, with `before` tries of it and `after` tries of none. Returns null if no chance is enough.
 */
export function findDetectableFall(before: number, after: number, alpha: number): number | null {
  const none = { right: 0, tries: after };
  const isCalled = (right: number) => testFisher({ right, tries: before }, none) < alpha;
  const counts = Array.from({ length: before + 1 }, (_, right) => right).filter(isCalled);
  const computePower = (chance: number) =>
    counts.reduce((sum, right) => {
      const failures = before - right;
      const logChance = right * Math.log(chance) + (failures === 0 ? 0 : failures * Math.log(1 - chance));
      return sum + Math.exp(logChoose(before, right) + logChance);
    }, 0);
  for (let step = 1; step <= STEPS; step++) if (computePower(step / STEPS) >= POWER) return step / STEPS;
  return null;
}

/**
 * Returns the difference of two independent chances, `one` minus `other`, with its 95 % interval: R. G. Newcombe (1998, "Interval
 * estimation for the difference between independent proportions: comparison of eleven methods", Statistics in Medicine 17:8), method 10. It
 * stays within −1..1.
 */
export function compareChances(one: Tally, other: Tally): { difference: number; low: number; high: number } {
  if (one.tries === 0 || other.tries === 0) return { difference: 0, low: -1, high: 1 };
  const [a, b] = [one.right / one.tries, other.right / other.tries];
  const [ofA, ofB] = [computeWilson(one.right, one.tries), computeWilson(other.right, other.tries)];
  return {
    difference: a - b,
    low: a - b - Math.hypot(a - ofA.low, ofB.high - b),
    high: a - b + Math.hypot(ofA.high - a, b - ofB.low),
  };
}

/** Returns the logarithm of the binomial coefficient; −∞ if it is 0. */
function logChoose(n: number, k: number): number {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}
