export interface Interval {
  low: number;
  high: number;
}

/**
 * Returns the score interval of an accuracy (E. B. Wilson, 1927): fractions from 0 to 1 that hold the true accuracy with the probability of
 * `z` standard deviations, 95 % by default. Unlike the textbook interval it stays inside 0..1 and keeps a width when all or none are
 * correct. Without trials it is 0 to 1.
 */
export function computeWilson(correct: number, n: number, z = 1.96): Interval {
  if (!(correct >= 0 && correct <= n)) {
    throw new RangeError(`expected 0 <= correct <= n, got correct = ${correct}, n = ${n}`);
  }
  const accuracy = correct / n;
  const scale = 1 + z ** 2 / n;
  const centre = (accuracy + z ** 2 / (2 * n)) / scale;
  const margin = (z * Math.sqrt((accuracy * (1 - accuracy)) / n + z ** 2 / (4 * n ** 2))) / scale;
  // At the ends, centre and margin cancel exactly; rounding must not leave 1e-17 there.
  return {
    low: correct === 0 ? 0 : Math.max(0, centre - margin),
    high: correct === n ? 1 : Math.min(1, centre + margin),
  };
}
