import { type BootstrapOptions, bootstrapMedian } from './inference/bootstrap.ts';
import { computeMedian } from './inference/quantile.ts';
import { testSignedRank } from './inference/signed-rank.ts';

/** Comparison of two arms by paired rounds. Above 1, or above 0 for the effect: `other` takes longer than the baseline. */
export interface Comparison {
  /** Number of rounds. */
  n: number;
  /** Median of `other / baseline` on the logarithmic scale: for even n, the geometric mean of the two in the middle. */
  ratio: number;
  /** Bootstrap interval of the ratio; 0 to ∞ if there are too few rounds. */
  low: number;
  high: number;
  /** p-value, two-sided, of Wilcoxon's signed-rank test on the logarithms; not corrected for the number of comparisons. */
  pValue: number;
  /** Matched-pairs rank-biserial correlation, −1 (always faster) to 1 (always slower). */
  effectSize: number;
}

/**
 * Compares two arms measured in the same rounds: the i-th values of both belong to round i. It uses only ratios within a round, so anything
 * that slows a whole round cancels, and their logarithms, so swapping the arms gives 1 / ratio.
 *
 * `baseline` must be one run per round, as `other` is. Averaging the two baseline runs of a round would make its noise smaller than the
 * other's, and the median of skewed differences would then not be zero even if nothing differs.
 */
export function compare(
  baseline: readonly number[],
  other: readonly number[],
  options: BootstrapOptions = {},
): Comparison {
  if (baseline.length !== other.length || baseline.length === 0) {
    throw new RangeError(
      `expected as many rounds of both arms, at least one; got ${baseline.length} and ${other.length}`,
    );
  }
  const differences = Float64Array.from(other, (value, round) => toLog(value) - toLog(baseline[round]));
  const { low, high } = bootstrapMedian(differences, options);
  const { pValue, effectSize } = testSignedRank(differences);
  return {
    n: differences.length,
    ratio: Math.exp(computeMedian(differences)),
    low: Math.exp(low),
    high: Math.exp(high),
    pValue,
    effectSize,
  };
}

function toLog(value = Number.NaN): number {
  if (!(value > 0 && value < Infinity)) {
    throw new RangeError(`expected positive, finite measurements, got ${value}`);
  }
  return Math.log(value);
}
