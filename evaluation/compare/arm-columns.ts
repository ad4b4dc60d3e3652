import type { Column } from '../terminal/columns.ts';
import { formatDecimals } from '../terminal/table.ts';
import type { ComparedArm, Metric, Verdict } from './comparison-file.ts';
import { formatDetectable, formatInterval, formatVerdict, METRIC_NAMES } from './comparison-text.ts';

/** Describes what a measurement with or without a network cannot tell. */
export function describeDistance(hasNetwork: boolean): string {
  return hasNetwork
    ? 'The network is a relay that delays and limits. It has no loss and no slow start of connections.'
    : 'Loopback is not a network. It has no distance, no loss and no narrow link: where a byte or a round trip costs time, sizes and set-up matter more than here (--network).';
}

/** The column of names. */
export function createNameColumn(header: string): Column<ComparedArm> {
  return { key: 'name', header, value: ({ name }) => name };
}

export const bytesRatio: Column<ComparedArm> = {
  key: 'bytes_ratio',
  header: '×',
  value: ({ vs_baseline: vs }) => vs?.bytes.ratio ?? 1,
  digits: 2,
  explain: 'exact bytes as a multiple of the baseline’s',
};

export const bytesVerdict: Column<ComparedArm> = {
  key: 'bytes_verdict',
  value: ({ vs_baseline: vs }) => vs?.bytes.verdict ?? 'equal',
};

/** The verdict on a metric of each arm, with its ratio, its interval, and what this many invocations could have shown. */
export function createVerdictColumns(metric: Metric): Column<ComparedArm>[] {
  const find = ({ vs_baseline: vs }: ComparedArm) => vs?.[metric];
  return [
    {
      key: `${metric}_ratio`,
      header: METRIC_NAMES[metric],
      value: (arm) => pickRatio(arm, metric),
      digits: 2,
      explain: 'as a multiple of the baseline’s, from the means of fresh processes',
    },
    {
      key: `${metric}_low`,
      header: '95 %',
      value: (arm) => find(arm)?.low,
      format: (arm) => formatKnown(find(arm), formatInterval),
      explain: '95 % interval of that multiple over fresh processes',
    },
    { key: `${metric}_high`, value: (arm) => find(arm)?.high },
    { key: `${metric}_adjusted_p`, value: (arm) => find(arm)?.adjustedP },
    {
      key: `${metric}_detectable`,
      header: 'detects',
      value: (arm) => find(arm)?.detectable,
      format: (arm) => formatKnown(find(arm), formatDetectable),
      explain:
        'the smallest ratio, or its inverse, that this many processes would show in four of five measurements',
      rank: 6,
    },
    { key: `${metric}_needed`, value: (arm) => find(arm)?.needed },
    {
      key: `${metric}_verdict`,
      header: 'verdict',
      value: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : vs[metric]?.verdict),
      format: ({ vs_baseline: vs }) => {
        if (vs === null) return 'baseline';
        const verdict = vs[metric];
        return verdict === null ? 'rate too high' : formatVerdict(verdict, metric);
      },
    },
  ];
}

/** The ratio of another metric to the baseline, with a mark for its verdict. */
export function createRatioColumns(metric: Metric, header?: string): Column<ComparedArm>[] {
  return [
    {
      key: `${metric}_ratio`,
      header,
      value: (arm) => pickRatio(arm, metric),
      format: ({ vs_baseline: vs }) => (vs === null ? '1.00' : formatMarkedRatio(vs[metric])),
      explain: `${METRIC_NAMES[metric]} as a multiple of the baseline’s; \`=\`: shown to be equal, \`?\`: undecided`,
    },
    { key: `${metric}_low`, value: ({ vs_baseline: vs }) => vs?.[metric]?.low },
    { key: `${metric}_high`, value: ({ vs_baseline: vs }) => vs?.[metric]?.high },
    {
      key: `${metric}_verdict`,
      value: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : vs[metric]?.verdict),
    },
  ];
}

/** Formats a ratio in a table: a mark says that it is shown to be equal, `=`, or undecided, `?`. */
function formatMarkedRatio(verdict: Verdict | null): string {
  if (verdict === null) return '–';
  const mark = verdict.verdict === 'different' ? '' : verdict.verdict === 'equivalent' ? '=' : '?';
  return formatDecimals(verdict.ratio, verdict.ratio < 10 ? 2 : 1) + mark;
}

/** Percentiles of the times; those that the sample cannot hold are left out. */
export const latencies: readonly Column<ComparedArm>[] = [
  { key: 'latency_n', value: ({ latency_us: times }) => times?.n },
  { key: 'latency_us_p50', value: ({ latency_us: times }) => times?.p50 },
  { key: 'latency_us_p95', value: ({ latency_us: times }) => times?.p95 },
  { key: 'latency_us_p99', value: ({ latency_us: times }) => times?.p99 },
  { key: 'latency_us_p999', value: ({ latency_us: times }) => times?.p999 },
];

function pickRatio({ vs_baseline: vs }: ComparedArm, metric: Metric): number | undefined {
  return vs === null ? 1 : vs[metric]?.ratio;
}

function formatKnown(verdict: Verdict | null | undefined, format: (verdict: Verdict) => string): string {
  return verdict === null || verdict === undefined ? '–' : format(verdict);
}

/** A table of a comparison, which any output shows by its columns and its rows. */
type ComparisonTable = <Shown>(
  show: <Row>(columns: readonly Column<Row>[], rows: readonly Row[]) => Shown,
) => Shown;

/** Tables that belong together, with a heading and an explanation. */
export interface Section {
  readonly heading: string;
  readonly tables: readonly ComparisonTable[];
  readonly note: string;
  /** The place on a terminal: above the findings, below them, or on pages only. */
  readonly at: 'top' | 'bottom' | 'page';
}

export function createTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): ComparisonTable {
  return (show) => show(columns, rows);
}

/** The tables of a comparison, as its kind of arms has them. */
export interface ComparisonTables {
  readonly sections: readonly Section[];
  /** One line for each arm, with all numbers in full precision. */
  readonly csv: string;
  /** Limits of the numbers: each is a conclusion that a reader might draw and should not. */
  readonly limits: readonly string[];
  /** Words that a terminal explains below its tables. */
  readonly legend: string;
}
