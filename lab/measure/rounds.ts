import { Random } from '@gaia-mesh/core/system/random.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import { ProgressBar } from '@gaia-mesh/evaluation/terminal/progress-bar.ts';
import { count } from '@gaia-mesh/evaluation/terminal/table.ts';

interface Rounds {
  readonly rounds: number;
  /** Number of rounds before them that do not count. */
  readonly warmUp?: number;
  /** Seed of the order within each round. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** Plural name of a round, e.g. `rounds`; with it, progress and the remaining time are shown. */
  readonly shownAs?: string;
}

/**
 * Runs each target once a round, in random order; everything in the lab is measured by this loop. The machine's speed
 * varies, so that only results of the same round are compared.
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
   * The 95 % interval of the median, from order statistics of the binomial distribution (Conover, Practical
   * Nonparametric Statistics, 3rd ed., 3.2): it makes no assumption about the distribution of the values. For fewer
   * than six values it is their range.
   */
  readonly low: number;
  readonly high: number;
}

/** Estimates the median; undefined when nothing was measured. Values that are not finite count as not measured. */
export function estimateMedian(values: readonly number[]): Estimate | undefined {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const n = sorted.length;
  const half = 1.96 * Math.sqrt(n) * 0.5;
  const low = sorted[Math.max(0, Math.floor(n / 2 - half))];
  const high = sorted[Math.min(n, Math.ceil(n / 2 + half)) - 1];
  return low === undefined || high === undefined ? undefined : { median: computeMedian(sorted), low, high };
}

/** Formats an estimate as `782 ms (772–815)`, or as a dash when nothing was measured. */
export function estimateText(estimate: Estimate | undefined, unit = ''): string {
  if (estimate === undefined) return '–';
  const { median: middle, low, high } = estimate;
  const text = `${formatDigits(middle)}${unit && ` ${unit}`}`;
  return low === high ? text : `${text} (${formatDigits(low)}–${formatDigits(high)})`;
}

/** Formats a number with three significant digits, or as a whole number from 100. */
export function formatDigits(value: number): string {
  return Math.abs(value) >= 100 ? count(value) : String(Number(value.toPrecision(3)));
}
