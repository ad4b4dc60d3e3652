const DENSITY_AT_ZERO = 1 / Math.sqrt(2 * Math.PI);

/** Beyond this `z` the series loses digits to cancellation, and the continued fraction has settled within its 60 terms. */
const TAIL = 3;
const FRACTION_TERMS = 60;

/**
 * Returns the probability that a standard normal variable exceeds `z`, accurate to 13 digits in both tails: near the middle by the series
 * of G. Marsaglia (2004, "Evaluating the normal distribution", Journal of Statistical Software 11:4), further out by Laplace's continued
 * fraction (Abramowitz and Stegun, 26.2.14).
 */
export function computeNormalTail(z: number): number {
  if (z < 0) return 1 - computeNormalTail(-z);
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

/** Halvings of an interval of length 40, after which its ends are neighbouring numbers. */
const HALVINGS = 60;

/** Returns the `z` that a standard normal variable exceeds with a probability of `tail`, at most ½. */
export function computeNormalQuantile(tail: number): number {
  if (!(tail > 0 && tail <= 0.5)) throw new RangeError(`expected a tail from 0 to 0.5, got ${tail}`);
  let [low, high] = [0, 40];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (computeNormalTail(middle) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
