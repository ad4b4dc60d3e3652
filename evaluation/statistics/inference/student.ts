import { bisect } from './bisect.ts';

const DENSITY_AT_ZERO = 1 / Math.sqrt(2 * Math.PI);

/** Beyond this `z` the series loses digits to cancellation, and the continued fraction has settled within its 60 terms. */
const TAIL = 3;
const FRACTION_TERMS = 60;

/**
 * Returns the probability that Student's t with a whole number of degrees of freedom exceeds `t`: the finite sums of Abramowitz and Stegun,
 * 26.7.3 and 26.7.4, accurate to 14 decimal places. 0 and 1 at the infinities. With infinitely many degrees of freedom it is the normal
 * distribution.
 */
export function computeStudentTail(t: number, freedom: number): number {
  if (!((Number.isInteger(freedom) && freedom >= 1) || freedom === Infinity)) {
    throw new RangeError(`expected a whole number of degrees of freedom, at least 1, got ${freedom}`);
  }
  if (t < 0) return 1 - computeStudentTail(-t, freedom);
  if (freedom === Infinity) return computeNormalTail(t);
  const angle = Math.atan(t / Math.sqrt(freedom));
  const isOdd = freedom % 2 === 1;
  const square = Math.cos(angle) ** 2;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= freedom - 2; k += 2) {
    term *= ((k - 1) / k) * square;
    sum += term;
  }
  const inside = isOdd ? ((angle + Math.sin(angle) * sum) * 2) / Math.PI : Math.sin(angle) * sum;
  return Math.max(0, (1 - inside) / 2);
}

/**
 * Returns the probability that a standard normal variable exceeds `z`, which is not negative, accurate to 13 digits in both tails: near the middle by the series
 * of G. Marsaglia (2004, "Evaluating the normal distribution", Journal of Statistical Software 11:4), further out by Laplace's continued
 * fraction (Abramowitz and Stegun, 26.2.14).
 */
function computeNormalTail(z: number): number {
  const density = DENSITY_AT_ZERO * Math.exp(-z * z * 0.5);
  if (z > TAIL) {
    let fraction = z;
    for (let k = FRACTION_TERMS; k >= 1; k--) fraction = z + k / fraction;
    return density / fraction;
  }
  let sum = 0;
  let term = z;
  for (let odd = 1; sum + term !== sum; odd += 2) {
    sum += term;
    term *= (z * z) / (odd + 2);
  }
  return 0.5 - density * sum;
}

/** Halvings of an interval of a million, after which its ends agree to thirteen digits. */
const HALVINGS = 64;
/** Largest quantile: with one degree of freedom, a tail of 3e-7 lies beyond it. */
const LARGEST = 1e6;

/** Returns the value that Student's t exceeds with a probability of `tail`, at most ½. */
export function computeStudentQuantile(tail: number, freedom: number): number {
  if (!(tail > 0 && tail <= 0.5)) throw new RangeError(`expected a tail from 0 to 0.5, got ${tail}`);
  const [low, high] = bisect([0, LARGEST], HALVINGS, (t) => computeStudentTail(t, freedom) > tail);
  return (low + high) / 2;
}
