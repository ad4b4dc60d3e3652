import { normalTail } from '../inference/normal.ts';

/** The normal quantile of a two-sided 5 %. */
const Z = 1.959963984540054;
/** Steps of the integrals below; eight standard deviations to each side hold all but 1e-15. */
const STEPS = 2000;
const REACH = 8;

/**
 * The probability that the signed-rank test finds (two-sided 5 %, in the right direction) a shift of normal differences of
 * `shift` standard deviations in `n` pairs: E. Lehmann (1975, "Nonparametrics", 4.2), mean and variance of the statistic
 * under the alternative, from the probabilities that one, two sums of two, or two sums sharing one difference exceed 0.
 */
export function signedRankPower(n: number, shift: number): number {
  const one = normalTail(-shift);
  const two = normalTail(-Math.SQRT2 * shift);
  const sharing = normalMean((x) => normalTail(-(x + 2 * shift)) ** 2);
  const mean = n * one + ((n * (n - 1)) / 2) * two;
  const variance =
    n * one * (1 - one) +
    ((n * (n - 1)) / 2) * (2 * (one - two) ** 2 + 3 * two * (1 - two)) +
    n * (n - 1) * (n - 2) * (sharing - two ** 2);
  const critical = (n * (n + 1)) / 4 + Z * Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24) + 0.5;
  return normalTail((critical - mean) / Math.sqrt(variance));
}

/**
 * The probability of a verdict under the same shift, for many pairs: the median has to clear its own half width and what the
 * null comparison shows, |N| + half width, where N is the null's median. Both share the baseline's noise: differences
 * correlate by 1/2, their medians by (2/π) asin(1/2) = 1/3. With so many pairs the rank test has long found the shift.
 */
export function verdictPower(n: number, shift: number): number {
  const correlation = 1 / 3;
  const shiftOfMedian = shift / Math.sqrt(Math.PI / 2 / n);
  return normalMean((nullMedian) => {
    const needed = Math.abs(nullMedian) + Z - shiftOfMedian - correlation * nullMedian;
    return normalTail(needed / Math.sqrt(1 - correlation ** 2));
  });
}

/** The mean of a function of a standard normal variable. */
function normalMean(f: (x: number) => number): number {
  const width = (2 * REACH) / STEPS;
  let sum = 0;
  for (let i = 0; i <= STEPS; i++) {
    const x = i * width - REACH;
    sum += f(x) * Math.exp(-(x ** 2) / 2);
  }
  return (sum * width) / Math.sqrt(2 * Math.PI);
}
