/** Share of values trimmed at each end: one interrupted round in five then affects no figure. */
const TRIMMED = 0.2;

interface TrimmedMean {
  readonly mean: number;
  /** Variance of the mean, estimated from the values; 0 for fewer than two. */
  readonly variance: number;
}

/**
 * Returns the mean of the middle three fifths, with its variance from the winsorized values (K. Yuen, 1974, "The two-sample trimmed t for
 * unequal population variances", Biometrika 61:1). If noise is normal it needs 1.1 times as many values as the mean; if some values were
 * interrupted it needs far fewer. Fewer than five values are not trimmed.
 */
export function computeTrimmedMean(values: ArrayLike<number>): TrimmedMean {
  const n = values.length;
  if (n === 0) throw new RangeError('expected at least one value, got none');
  const sorted = Float64Array.from(values).sort();
  const off = Math.floor(TRIMMED * n);
  const kept = sorted.subarray(off, n - off);
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
  if (kept.length < 2) return { mean, variance: 0 };
  const [first = 0] = kept;
  const last = kept.at(-1) ?? 0;
  const winsorized = sorted.map((value) => Math.min(Math.max(value, first), last));
  const middle = winsorized.reduce((sum, value) => sum + value, 0) / n;
  const squares = winsorized.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return { mean, variance: squares / (kept.length * (kept.length - 1)) };
}
