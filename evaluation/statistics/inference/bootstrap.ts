import { Random } from '@gaia-mesh/core/system/random.ts';
import { computeNormalTail } from './normal.ts';

export interface BootstrapOptions {
  /** Standard deviations of a normal variable whose probability the interval has; 95 % by default. */
  z?: number;
  /** Resamples; 2000 by default, which places the ends within half a percentile of where endless resampling would. */
  resamples?: number;
  /** 1 by default: the same values give the same interval. */
  seed?: number;
}

export interface Interval {
  low: number;
  high: number;
}

/** With fewer, the ends would be the extreme medians. */
const MIN_RESAMPLES = 500;
/** 8 MB of medians. */
const MAX_RESAMPLES = 1_000_000;

/**
 * A bootstrap interval of the median (B. Efron, 1979): as many values as there are are drawn with replacement, again and
 * again, and percentiles of the medians of these resamples are the ends.
 *
 * Percentile, not BCa: the acceleration of BCa comes from the jackknife, which is inconsistent for the median (Efron, 1982,
 * "The jackknife, the bootstrap and other resampling plans", 3.4), and a median needs no correction for skew: how often
 * order statistics hold it is the same for every continuous distribution.
 *
 * Expanded (T. Hesterberg, 2015, "What teachers should know about the bootstrap", The American Statistician 69:4):
 * resamples vary less than samples, so plain percentiles hold the median in only 88 % of samples of 7, and 91 % of 13. Taking
 * them as far out as Student's t and √(n / (n − 1)) demand makes it 94.5 to 98 % from n = 6 up.
 *
 * The widest interval of this kind, from the smallest to the largest value, holds the median with 1 − 2^(1 − n). Where that is
 * not enough (n < 6 at 95 %) nothing is claimed: −∞ to ∞.
 */
export function bootstrapMedian(values: ArrayLike<number>, options: BootstrapOptions = {}): Interval {
  const { z = 1.959963984540054, resamples = 2000, seed = 1 } = options;
  if (!(Number.isInteger(resamples) && resamples >= MIN_RESAMPLES && resamples <= MAX_RESAMPLES)) {
    throw new RangeError(`expected ${MIN_RESAMPLES} to ${MAX_RESAMPLES} resamples, got ${resamples}`);
  }
  const n = values.length;
  if (2 ** -n > computeNormalTail(z)) return { low: -Infinity, high: Infinity };
  const tail = computeNormalTail(approximateStudentQuantile(z, n - 1) * Math.sqrt(n / (n - 1)));
  const medians = resampleMedians(Float64Array.from(values).sort(), resamples, new Random(seed)).sort();
  // The k-th smallest and the k-th largest (Efron and Tibshirani, 1993, "An introduction to the bootstrap", 12.5).
  const k = Math.max(1, Math.floor((resamples + 1) * tail));
  return { low: medians[k - 1] ?? -Infinity, high: medians[resamples - k] ?? Infinity };
}

/**
 * Medians of resamples. A resample of sorted values is sorted by counting how often each was drawn, so that none is ever
 * sorted by comparison.
 */
function resampleMedians(sorted: Float64Array, resamples: number, random: Random): Float64Array {
  const n = sorted.length;
  const drawn = new Uint32Array(n);
  const medians = new Float64Array(resamples);
  const lower = Math.ceil(n / 2);
  const upper = Math.floor(n / 2) + 1;
  for (let b = 0; b < resamples; b++) {
    drawn.fill(0);
    for (let i = 0; i < n; i++) {
      const place = random.integer(n);
      drawn[place] = (drawn[place] ?? 0) + 1;
    }
    let place = 0;
    let seen = drawn[0] ?? n;
    while (seen < lower) seen += drawn[++place] ?? n;
    const below = sorted[place] ?? Number.NaN;
    while (seen < upper) seen += drawn[++place] ?? n;
    medians[b] = (below + (sorted[place] ?? Number.NaN)) / 2;
  }
  return medians;
}

/**
 * The quantile of Student's t where the normal quantile is `z`, to 0.3 % from 5 degrees of freedom (Abramowitz and Stegun,
 * 26.7.5).
 */
function approximateStudentQuantile(z: number, freedom: number): number {
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}
