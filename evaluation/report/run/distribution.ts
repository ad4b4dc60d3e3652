import { computePercentile, computeQuantile } from '../../statistics/inference/quantile.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { formatMs } from '../wording.ts';

/** Measured values, and what they come to, in milliseconds. */
export interface Distribution {
  readonly label: string;
  readonly samplesMs: readonly number[];
  readonly quarterMs: number;
  readonly medianMs: number;
  readonly threeQuartersMs: number;
  /** null where there are too few values to know. */
  readonly p95Ms: number | null;
  readonly text: string;
}

/** Distributions as a chart and as a table. */
export interface DistributionsView {
  readonly finding: string;
  readonly distributions: readonly Distribution[];
  readonly table: TableView;
}

/** With fewer there is nothing to see of a distribution. */
export const MIN_SAMPLES = 5;
/** Values of one distribution that are drawn: more are not told apart, and the page stays small. */
const MAX_DRAWN = 1000;

/** Builds the distribution of `samplesMs`; the list is empty if there are too few. */
export function buildDistribution(label: string, samplesMs: readonly number[]): Distribution[] {
  if (samplesMs.length < MIN_SAMPLES) return [];
  const medianMs = roundThousandth(computeQuantile(samplesMs, 0.5));
  const stride = Math.ceil(samplesMs.length / MAX_DRAWN);
  return [
    {
      label: toOneLine(label, 64),
      samplesMs: samplesMs.filter((_, index) => index % stride === 0).map(roundThousandth),
      quarterMs: roundThousandth(computeQuantile(samplesMs, 0.25)),
      medianMs,
      threeQuartersMs: roundThousandth(computeQuantile(samplesMs, 0.75)),
      p95Ms: computePercentile(samplesMs, 0.95),
      text: formatMs(medianMs),
    },
  ];
}

export function buildDistributionsTable(distributions: readonly Distribution[]): TableView {
  return createTableView(
    ['', '#quarter ms', '#median ms', '#three quarters ms', '#p95 ms', '#drawn'],
    distributions.map(({ label, samplesMs, quarterMs, medianMs, threeQuartersMs, p95Ms }) => [
      label,
      formatDecimals(quarterMs, 2),
      formatDecimals(medianMs, 2),
      formatDecimals(threeQuartersMs, 2),
      formatDecimals(p95Ms, 2),
      count(samplesMs.length),
    ]),
  );
}

function roundThousandth(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
