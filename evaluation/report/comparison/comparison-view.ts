import { listAdapterColumns, listGroupColumns } from '../../compare/adapters/adapter-columns.ts';
import type { AdapterArm, AdaptersComparison, Verdict } from '../../compare/comparison-file.ts';
import {
  describeNullTest,
  describeOpen,
  describePlayed,
  describeTaskShare,
} from '../../compare/comparison-text.ts';
import { formatDetectable, formatInterval, formatMargin, formatVerdict } from '../../compare/verdict-text.ts';
import { explainColumns, toTableView } from '../../terminal/columns.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import type { PanelsView } from '../panels-view.ts';
import { buildRoundsView, formatMachineCells } from '../rounds-view.ts';
import { type BytesView, buildBytesTable, buildByteWaterfall } from '../run/byte-waterfall.ts';
import { buildDistribution, buildDistributionsTable, type DistributionsView } from '../run/distribution.ts';
import { bindNumbers, formatBytes, formatMs, formatRatio } from '../wording.ts';

/** A ratio with its interval; `high` is null where there are too few rounds for one. */
export interface RatioView {
  readonly label: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number | null;
  readonly detects: string;
  readonly verdict: string;
  /** A difference that was detected. */
  readonly isDetected: boolean;
  readonly text: string;
}

export interface ComparisonView {
  /** The answer in one sentence, or the effort that it would take. */
  readonly sentence: string;
  /** Problems of the machine during the measurement. */
  readonly warnings: readonly string[];
  readonly made: string;
  readonly table: TableView;
  /** Explanation of the table's columns. */
  readonly columns: string;
  readonly baseline: string;
  readonly bytes: BytesView;
  readonly time: {
    readonly finding: string;
    readonly ratios: readonly RatioView[];
    /** Ratios that count as equal. */
    readonly equal: { readonly low: number; readonly high: number; readonly text: string };
    /** Comparison of the baseline with itself. */
    readonly nullTest: string;
    readonly table: TableView;
  };
  /** null for a comparison that has not kept its rounds, or has too few. */
  readonly latency: DistributionsView | null;
  /** Bytes against the baseline's, by kind of traffic and by size of payload; none where all packets are of one. */
  readonly groups: readonly TableView[];
  readonly rounds: PanelsView | null;
  /** The command line that repeats the measurement; null if the file lacks it. */
  readonly command: string | null;
  /** All of it, to be taken away. */
  readonly file: AdaptersComparison;
}

const NOTHING = 'Nothing was compared';

/** A comparison as the page shows it: adapters by their bytes, fewest first; times by their ratio. */
export function buildComparisonView(file: AdaptersComparison): ComparisonView {
  const byBytes = file.arms.toSorted((a, b) => a.ledger.total.wire - b.ledger.total.wire);
  const byTime = file.arms.toSorted((a, b) => readTimeRatio(a) - readTimeRatio(b));
  const columns = listAdapterColumns(file);
  return {
    sentence: bindNumbers(toOneLine(file.sentence ?? describeOpen(file) ?? NOTHING, 1200)),
    warnings: file.warnings.map((warning) => toOneLine(warning, 200)),
    made: describeOrigin(file),
    table: toTableView(columns, byBytes),
    columns: explainColumns(columns),
    baseline: toOneLine(file.baseline, 40),
    bytes: {
      finding: describeBytes(file),
      waterfalls: byBytes.map((row) => {
        const { total } = row.ledger;
        return buildByteWaterfall(
          formatAdapterName(row),
          total,
          `${formatBytes(total.wire)} · ${formatDecimals(row.vs_baseline?.bytes.ratio ?? 1, 2)}×`,
        );
      }),
      table: buildBytesTable(byBytes.map((row) => [formatAdapterName(row), row.ledger.total])),
    },
    time: buildTimes(file, byTime),
    latency: buildLatencies(file, byTime),
    groups: (['by_part', 'by_size'] as const)
      .map((key) => listGroupColumns(file, key))
      .filter(({ length }) => length > 0)
      .map((own) => toTableView(own, file.arms)),
    rounds: buildRoundsPanels(file),
    command: file.command,
    file,
  };
}

function buildTimes(file: AdaptersComparison, adapters: readonly AdapterArm[]): ComparisonView['time'] {
  const ratios = listRatios(file, adapters);
  const equal = 1 + file.margin;
  return {
    finding: bindNumbers(describeTimes(file)),
    ratios,
    equal: { low: 1 / equal, high: equal, text: formatMargin(file) },
    nullTest: bindNumbers(toOneLine(describeNullTest(file), 400)),
    table: createTableView(
      ['', '#ratio', '#95 % interval', '#detects', 'verdict'],
      ratios.map((row) => [row.label, formatRatio(row.ratio), formatInterval(row), row.detects, row.verdict]),
    ),
  };
}

/** Names by verdict; the figures are beside them. */
function describeTimes({ baseline, arms: adapters }: AdaptersComparison): string {
  const verdicts = Map.groupBy(
    adapters.flatMap((row) => (row.vs_baseline?.time == null ? [] : [{ row, time: row.vs_baseline.time }])),
    ({ time }) => formatVerdict(time),
  );
  const parts = [...verdicts].map(
    ([verdict, rows]) => `${verdict}: ${rows.map(({ row }) => formatAdapterName(row)).join(', ')}`,
  );
  return `Task time against ${toOneLine(baseline, 40)}. ${parts.join('; ')}`;
}

function buildLatencies(file: AdaptersComparison, adapters: readonly AdapterArm[]): DistributionsView | null {
  const distributions = adapters.flatMap((row) =>
    buildDistribution(
      formatAdapterName(row),
      row.samples_us.time.flat().map((us) => us / 1000),
    ),
  );
  const baseline = adapters.find(({ name }) => name === file.baseline);
  if (baseline === undefined || distributions.length === 0) return null;
  return {
    finding: `All tasks take ${formatMs((baseline.latency_us?.p50 ?? 0) / 1000)} with ${formatAdapterName(baseline)}, the baseline`,
    distributions,
    table: buildDistributionsTable(distributions),
  };
}

function buildRoundsPanels({ arms: adapters, machine }: AdaptersComparison): PanelsView | null {
  const measured = adapters.map((row) => ({
    label: formatAdapterName(row),
    settings: '',
    samplesMs: row.samples_us.time.map((rounds) => rounds.map((us) => us / 1000)),
  }));
  return buildRoundsView(measured, {
    what: 'set of processes',
    caption:
      'All tasks. Dots are rounds, the line goes through the median of each invocation; adapters took turns within a round, so what the machine did at a time ' +
      'is seen in all charts at the same place. Grey: the baseline. What the machine did meanwhile is in the table.',
    table: createTableView(
      ['#invocation', '#round', '#load', '#stolen ms', '#throttled ms', '#free MB'],
      machine.map((state) => [
        count(state.invocation + 1),
        count(state.round + 1),
        ...formatMachineCells(state),
      ]),
    ),
  });
}

function readTimeRatio({ vs_baseline }: AdapterArm): number {
  return vs_baseline?.time?.ratio ?? 1;
}

/** The baseline's line is the null test: the same adapter in processes of its own. */
function listRatios(
  { baseline, null_test }: AdaptersComparison,
  adapters: readonly AdapterArm[],
): RatioView[] {
  const rows = adapters.flatMap((row) => {
    const judged = row.vs_baseline === null ? null_test.time : row.vs_baseline.time;
    const label = row.vs_baseline === null ? `${toOneLine(baseline, 40)} again` : formatAdapterName(row);
    return judged === null ? [] : [toRatioView(label, judged)];
  });
  return rows.toSorted((a, b) => a.ratio - b.ratio);
}

function toRatioView(label: string, judged: Verdict): RatioView {
  const { ratio, low, high } = judged;
  const verdict = formatVerdict(judged);
  const text = `${formatRatio(ratio)} ${verdict}`;
  const isDetected = judged.verdict === 'different';
  return { label, ratio, low, high, detects: formatDetectable(judged), verdict, isDetected, text };
}

function describeOrigin(file: AdaptersComparison): string {
  const { cpu, node } = file.environment;
  const machine = toOneLine(`${cpu ?? 'unknown processor'}, Node ${node ?? 'unknown'}`, 120);
  return `${bindNumbers(describePlayed(file))}. The packets were recorded once and played through every adapter. ${describeTaskShare(file)} ${machine}`;
}

function describeBytes({ arms: adapters }: AdaptersComparison): string {
  const baseline = adapters.find(({ vs_baseline }) => vs_baseline === null);
  const others = adapters.filter((row) => row !== baseline);
  const wireOf = ({ ledger }: AdapterArm) => ledger.total.wire;
  const most = others.toSorted((a, b) => wireOf(b) - wireOf(a))[0];
  const fewest = others.toSorted((a, b) => wireOf(a) - wireOf(b))[0];
  if (baseline === undefined || most === undefined || fewest === undefined)
    return 'Bytes of the same packets';
  const base = `the bytes of ${formatAdapterName(baseline)}`;
  const ratio = (row: AdapterArm) => formatRatio(wireOf(row) / wireOf(baseline));
  const isBetween = wireOf(fewest) < wireOf(baseline) && wireOf(baseline) < wireOf(most);
  if (isBetween)
    return `${formatAdapterName(most)} needs ${ratio(most)} ${base}, ${formatAdapterName(fewest)} ${ratio(fewest)}`;
  const furthest = wireOf(most) > wireOf(baseline) ? most : fewest;
  return `${formatAdapterName(furthest)} needs ${ratio(furthest)} ${base}`;
}

function formatAdapterName({ name }: AdapterArm): string {
  return toOneLine(name, 40);
}
