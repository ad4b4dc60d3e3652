import { Random } from '@gaia-mesh/core/system/random.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import type { Comparison } from '@gaia-mesh/evaluation/statistics/paired.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { count, formatDecimals } from '@gaia-mesh/evaluation/terminal/table.ts';

interface Rounds {
  readonly rounds: number;
  /** Rounds before them that do not count. */
  readonly warmUp?: number;
  /** Of the order within each round. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** What a round is, in the plural: then it is shown how many there were, and how long the others will take. */
  readonly shownAs?: string;
}

/**
 * The one loop of everything that is measured here: each target once a round, in random order. The machine changes its speed by itself,
 * so only what ran within one round is compared.
 *
 * @returns the samples of each target, round by round
 */
export async function runInterleaved<Name extends string, Sample>(
  targets: Readonly<Record<Name, (round: number) => Sample | Promise<Sample>>>,
  { rounds, warmUp = 0, seed = 1, signal, shownAs }: Rounds,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(targets) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  const random = new Random(seed);
  const bar = shownAs === undefined ? undefined : await ProgressBar.start(warmUp + rounds, shownAs);
  try {
    for (let round = -warmUp; round < rounds; round++) {
      for (const name of random.shuffle(names)) {
        signal?.throwIfAborted();
        const sample = await targets[name](round);
        if (round >= 0) samples[name].push(sample);
      }
      bar?.advance();
    }
  } finally {
    bar?.end();
  }
  return samples;
}

/** A median with its interval. */
export interface Estimate {
  readonly median: number;
  /**
   * 95 % interval of the median, from order statistics of the binomial distribution (Conover, Practical Nonparametric Statistics,
   * 3rd ed., 3.2): it assumes nothing about how the values are distributed. Of fewer than six values it is their range.
   */
  readonly low: number;
  readonly high: number;
}

/** Undefined where nothing was measured; values that are no numbers count as not measured. */
export function estimateMedian(values: readonly number[]): Estimate | undefined {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const n = sorted.length;
  const half = 1.96 * Math.sqrt(n) * 0.5;
  const low = sorted[Math.max(0, Math.floor(n / 2 - half))];
  const high = sorted[Math.min(n, Math.ceil(n / 2 + half)) - 1];
  return low === undefined || high === undefined ? undefined : { median: computeMedian(sorted), low, high };
}

/** `782 ms (772–815)`; a dash where nothing was measured. */
export function estimateText(estimate: Estimate | undefined, unit = ''): string {
  if (estimate === undefined) return '–';
  const { median: middle, low, high } = estimate;
  const text = `${formatDigits(middle)}${unit && ` ${unit}`}`;
  return low === high ? text : `${text} (${formatDigits(low)}–${formatDigits(high)})`;
}

/** `1.57 (1.25–1.91)`: a ratio within rounds, with its 95 % interval. */
export function formatRatio({ ratio, low, high }: Pick<Comparison, 'ratio' | 'low' | 'high'>): string {
  const interval = Number.isFinite(high)
    ? `${formatDecimals(low, 2)}–${formatDecimals(high, 2)}`
    : 'too few rounds for an interval';
  return `${formatDecimals(ratio, 2)} (${interval})`;
}

/** Three digits that mean something. */
export function formatDigits(value: number): string {
  return Math.abs(value) >= 100 ? count(value) : String(Number(value.toPrecision(3)));
}
