import { bisect } from './bisect.ts';

/**
 * Returns the probability that Student's t with a whole number of degrees of freedom exceeds `t`: the finite sums of Abramowitz and Stegun,
 * 26.7.3 and 26.7.4, accurate to 14 decimal places. 0 and 1 at the infinities.
 */
export function computeStudentTail(t: number, freedom: number): number {
  if (!(Number.isInteger(freedom) && freedom >= 1)) {
    throw new RangeError(`expected a whole number of degrees of freedom, at least 1, got ${freedom}`);
  }
  if (t < 0) return 1 - computeStudentTail(-t, freedom);
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

/** Halvings of an interval of a million, after which its ends agree to ten digits. */
const HALVINGS = 60;
/** Largest quantile: with one degree of freedom, a tail of 3e-7 lies beyond it. */
const LARGEST = 1e6;

/** Returns the value that Student's t exceeds with a probability of `tail`, at most ½. */
export function computeStudentQuantile(tail: number, freedom: number): number {
  if (!(tail > 0 && tail <= 0.5)) throw new RangeError(`expected a tail from 0 to 0.5, got ${tail}`);
  const [low, high] = bisect([0, LARGEST], HALVINGS, (t) => computeStudentTail(t, freedom) > tail);
  return (low + high) / 2;
}
