import type { StacksComparison } from '../../compare/comparison-file.ts';
import { formatName } from '../../compare/verdict-text.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { MIN_SAMPLES } from '../run/distribution.ts';
import { bindNumbers, formatMs, formatSpan } from '../wording.ts';

/** Distribution of times on a logarithmic scale. */
interface Density {
  readonly label: string;
  readonly text: string;
  /** Edges of the bins, in milliseconds: one more than there are heights. */
  readonly edgesMs: readonly number[];
  /** Height of each bin, as a share of the fullest one. */
  readonly heights: readonly number[];
  readonly p50Ms: number;
  /** null where there are too few values to know. */
  readonly p99Ms: number | null;
}

export interface DensitiesView {
  readonly finding: string;
  readonly densities: readonly Density[];
  readonly caption: string;
  readonly table: TableView;
}

/** Bins of a factor of ten: narrow enough to see times apart that differ by an eighth, and by a quarter where there are few of them. */
const BINS = { many: 40, few: 20 };
/** With fewer, most narrow bins would hold one value or none. */
const MANY = 400;
/** A factor of a million between the least and the most; beyond it the ends are one bin. */
const MAX_BINS = 240;

/** The times of all arms that kept up with the rate, from their samples; null where there are none. */
export function buildDensitiesView({ arms, rate_per_s }: StacksComparison): DensitiesView | null {
  const measured = arms.flatMap(({ name, latency_us: times, load: { samples_us: samples } }) =>
    times === null || samples.length < MIN_SAMPLES ? [] : [{ label: formatName(name), times, samples }],
  );
  if (measured.length === 0) return null;
  const medians = measured.map(({ times }) => times.p50 / 1000);
  return {
    finding: bindNumbers(`Half of the exchanges take at most ${formatSpan(medians, formatMs)}`),
    densities: measured.map(({ label, times, samples }) => ({
      label,
      text: `p50 ${formatMs(times.p50 / 1000)}${times.p99 === null ? '' : ` · p99 ${formatMs(times.p99 / 1000)}`}`,
      ...buildLogHistogram(samples.map((us) => us / 1000)),
      p50Ms: times.p50 / 1000,
      p99Ms: times.p99 === null ? null : times.p99 / 1000,
    })),
    caption:
      `At ${rate_per_s} exchanges a second, each from when it should have begun. The area is how often a time came, of up to 2,000 samples of each ` +
      'stack, and every row is as high as its fullest bin: two hills are two kinds of exchange. The strong mark is the median, the thin one p99. ' +
      'Logarithmic scale.',
    table: createTableView(
      ['', '#n', '#p50 ms', '#p99 ms', '#p99.9 ms', '#load late by ms'],
      arms.map(({ name, latency_us: times, load }) => [
        formatName(name),
        ...(times === null
          ? ['did not keep up', '–', '–', '–', '–']
          : [
              count(times.n),
              ...[times.p50, times.p99, times.p999, load.late_us].map((us) =>
                formatDecimals(us === null ? null : us / 1000, 2),
              ),
            ]),
      ]),
    ),
  };
}

/** Values above 0, in bins of one width on a logarithmic scale. */
export function buildLogHistogram(values: readonly number[]): Pick<Density, 'edgesMs' | 'heights'> {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (logs.length === 0) return { edgesMs: [], heights: [] };
  const perDecade = logs.length < MANY ? BINS.few : BINS.many;
  const binOf = (log: number) => Math.floor(log * perDecade);
  const first = logs.reduce((least, log) => Math.min(least, binOf(log)), Number.POSITIVE_INFINITY);
  const last = logs.reduce((most, log) => Math.max(most, binOf(log)), first);
  const counts = Array.from({ length: Math.min(MAX_BINS, last - first + 1) }, () => 0);
  for (const log of logs) {
    const bin = Math.min(counts.length - 1, binOf(log) - first);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const fullest = Math.max(...counts);
  return {
    edgesMs: Array.from({ length: counts.length + 1 }, (_, index) =>
      roundMs(10 ** ((first + index) / perDecade)),
    ),
    heights: counts.map((own) => Math.round((own / fullest) * 1000) / 1000),
  };
}

function roundMs(ms: number): number {
  return Number(ms.toPrecision(4));
}
