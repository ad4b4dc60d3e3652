/**
 * Returns the value that a fraction `p` of the sample lies below, interpolated between neighbours: definition 7 of R. Hyndman and Y. Fan
 * (1996, "Sample quantiles in statistical packages", The American Statistician 50:4), the default of R and NumPy.
 */
function computeQuantile(values: ArrayLike<number>, p: number): number {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`expected a fraction from 0 to 1, got ${p}`);
  if (values.length === 0) throw new RangeError('expected at least one value, got none');
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * p;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (position - Math.floor(position)) * (above - below);
}

/** Returns the middle value, or the mean of the two middle values. */
export function computeMedian(values: ArrayLike<number>): number {
  return computeQuantile(values, 0.5);
}

/**
 * Returns the quantile, or null if the sample is too small for it: at least one value is expected beyond a tail quantile, so p5 and p95
 * need 20 values, p99 needs 100 and p99.9 needs 1000. With fewer, the figure would only be the maximum under another name.
 */
export function computePercentile(values: ArrayLike<number>, p: number): number | null {
  // The value is rounded, because 1 / (1 - 0.999) is 999.9999999999991.
  const needed = p === 0.5 ? 1 : Math.round(1 / Math.min(p, 1 - p));
  return values.length < needed ? null : computeQuantile(values, p);
}
