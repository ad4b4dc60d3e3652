import type { ComparedAdapter, ComparisonFile, JudgedPair } from '../../compare/comparison-file.ts';
import {
  bytesRatio,
  COLUMNS_EXPLAINED,
  comparisonTable,
  groupTables,
  nullTestText,
  openText,
  playedText,
  taskShareText,
} from '../../compare/comparison-table.ts';
import { detectableText, intervalText, marginText, verdictText } from '../../compare/verdict-text.ts';
import { count, oneLine } from '../../terminal/table.ts';
import { type TableView, tableView } from '../../terminal/table-view.ts';
import type { PanelsView } from '../panels-view.ts';
import { machineCells, roundsView } from '../rounds-view.ts';
import { type BytesView, bytesTable, byteWaterfall } from '../run/byte-waterfall.ts';
import { type DistributionsView, distribution, distributionsTable } from '../run/distribution.ts';
import { bound, bytesText, msText, ratioText } from '../wording.ts';
import { type GrowthView, growthView } from './growth-view.ts';

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
  /** The answer in one line; where there is none, what it would take. */
  readonly sentence: string;
  /** What was wrong with the machine meanwhile. */
  readonly warnings: readonly string[];
  readonly made: string;
  readonly table: TableView;
  /** What its columns are. */
  readonly columns: string;
  readonly baseline: string;
  readonly bytes: BytesView;
  readonly time: {
    readonly finding: string;
    readonly ratios: readonly RatioView[];
    /** Ratios that count as equal. */
    readonly equal: { readonly low: number; readonly high: number; readonly text: string };
    /** What the baseline shows against itself. */
    readonly nullTest: string;
    readonly table: TableView;
  };
  /** null for a comparison that has not kept its rounds, or has too few. */
  readonly latency: DistributionsView | null;
  /** null for a comparison of one run. */
  readonly growth: GrowthView | null;
  /** Bytes against the baseline's, by kind of traffic and by size of payload; none where all packets are of one. */
  readonly groups: readonly TableView[];
  readonly rounds: PanelsView | null;
  /** What measures it again; null where the file does not say. */
  readonly command: string | null;
  /** All of it, to be taken away. */
  readonly file: ComparisonFile;
}

const NOTHING = 'Nothing was compared';

/** A comparison as the page shows it: adapters by their bytes, fewest first; times by their ratio. */
export function comparisonView(file: ComparisonFile): ComparisonView {
  const byBytes = file.adapters.toSorted((a, b) => a.ledger.total.wire - b.ledger.total.wire);
  const byTime = file.adapters.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  return {
    sentence: bound(oneLine(file.sentence ?? openText(file) ?? NOTHING, 1200)),
    warnings: file.warnings.map((warning) => oneLine(warning, 200)),
    made: madeText(file),
    table: comparisonTable(file, byBytes),
    columns: COLUMNS_EXPLAINED,
    baseline: oneLine(file.baseline, 40),
    bytes: {
      finding: bytesFinding(file),
      waterfalls: byBytes.map((row) => {
        const { total } = row.ledger;
        return byteWaterfall(nameOf(row), total, `${bytesText(total.wire)} · ${bytesRatio(row, file)}×`);
      }),
      table: bytesTable(byBytes.map((row) => [nameOf(row), row.ledger.total])),
    },
    time: timesOf(file, byTime),
    latency: latencyOf(file, byTime),
    growth: growthView(file),
    groups: groupTables(file),
    rounds: roundsOverTime(file),
    command: file.command,
    file,
  };
}

function timesOf(file: ComparisonFile, adapters: readonly ComparedAdapter[]): ComparisonView['time'] {
  const ratios = ratiosOf(file, adapters);
  const equal = 1 + file.margin;
  return {
    finding: bound(timeFinding(file)),
    ratios,
    equal: { low: 1 / equal, high: equal, text: marginText(file) },
    nullTest: bound(oneLine(nullTestText(file), 400)),
    table: tableView(
      ['', '#ratio', '#95 % interval', '#detects', 'verdict'],
      ratios.map((row) => [row.label, ratioText(row.ratio), intervalText(row), row.detects, row.verdict]),
    ),
  };
}

/** Names by verdict; the figures are beside them. */
function timeFinding({ baseline, adapters }: ComparisonFile): string {
  const verdicts = Map.groupBy(
    adapters.flatMap((row) => (row.vs_baseline === null ? [] : [{ row, time: row.vs_baseline.time }])),
    ({ time }) => verdictText(time),
  );
  const parts = [...verdicts].map(
    ([verdict, rows]) => `${verdict}: ${rows.map(({ row }) => nameOf(row)).join(', ')}`,
  );
  return `Task time against ${oneLine(baseline, 40)}. ${parts.join('; ')}`;
}

function latencyOf(file: ComparisonFile, adapters: readonly ComparedAdapter[]): DistributionsView | null {
  const distributions = adapters.flatMap((row) =>
    distribution(
      nameOf(row),
      row.samples_us.flat().map((us) => us / 1000),
    ),
  );
  const baseline = adapters.find(({ adapter }) => adapter === file.baseline);
  if (baseline === undefined || distributions.length === 0) return null;
  return {
    finding: `All tasks take ${msText(baseline.latency_us.median / 1000)} with ${nameOf(baseline)}, the baseline`,
    distributions,
    table: distributionsTable(distributions),
  };
}

function roundsOverTime({ adapters, machine }: ComparisonFile): PanelsView | null {
  const measured = adapters.map((row) => ({
    label: nameOf(row),
    settings: '',
    samplesMs: row.samples_us.map((rounds) => rounds.map((us) => us / 1000)),
  }));
  return roundsView(measured, {
    what: 'set of processes',
    caption:
      'All tasks. Dots are rounds, the line goes through the median of each invocation; adapters took turns within a round, so what the machine did at a time ' +
      'is seen in all charts at the same place. Grey: the baseline. What the machine did meanwhile is in the table.',
    table: tableView(
      ['#invocation', '#round', '#load', '#stolen ms', '#throttled ms', '#free MB'],
      machine.map((state) => [count(state.invocation + 1), count(state.round + 1), ...machineCells(state)]),
    ),
  });
}

function ratioOf({ vs_baseline }: ComparedAdapter): number {
  return vs_baseline?.time.ratio ?? 1;
}

/** The baseline's line is the null test: the same adapter in processes of its own. */
function ratiosOf(
  { baseline, null_test }: ComparisonFile,
  adapters: readonly ComparedAdapter[],
): RatioView[] {
  const rows = adapters.map((row) =>
    row.vs_baseline === null
      ? ratioOfPair(`${oneLine(baseline, 40)} again`, null_test)
      : ratioOfPair(nameOf(row), row.vs_baseline.time),
  );
  return rows.toSorted((a, b) => a.ratio - b.ratio);
}

function ratioOfPair(label: string, judged: JudgedPair): RatioView {
  const { ratio, low, high } = judged;
  const verdict = verdictText(judged);
  const text = `${ratioText(ratio)} ${verdict}`;
  const isDetected = judged.verdict === 'different';
  return { label, ratio, low, high, detects: detectableText(judged), verdict, isDetected, text };
}

function madeText(file: ComparisonFile): string {
  const { cpu, node } = file.environment;
  const machine = oneLine(`${cpu ?? 'unknown processor'}, Node ${node ?? 'unknown'}`, 120);
  return `${bound(playedText(file))}. The packets were recorded once and played through every adapter. ${taskShareText(file)} ${machine}`;
}

function bytesFinding({ adapters }: ComparisonFile): string {
  const baseline = adapters.find(({ vs_baseline }) => vs_baseline === null);
  const others = adapters.filter((row) => row !== baseline);
  const wireOf = ({ ledger }: ComparedAdapter) => ledger.total.wire;
  const most = others.toSorted((a, b) => wireOf(b) - wireOf(a))[0];
  const fewest = others.toSorted((a, b) => wireOf(a) - wireOf(b))[0];
  if (baseline === undefined || most === undefined || fewest === undefined)
    return 'Bytes of the same packets';
  const base = `the bytes of ${nameOf(baseline)}`;
  const ratio = (row: ComparedAdapter) => ratioText(wireOf(row) / wireOf(baseline));
  const isBetween = wireOf(fewest) < wireOf(baseline) && wireOf(baseline) < wireOf(most);
  if (isBetween) return `${nameOf(most)} needs ${ratio(most)} ${base}, ${nameOf(fewest)} ${ratio(fewest)}`;
  const furthest = wireOf(most) > wireOf(baseline) ? most : fewest;
  return `${nameOf(furthest)} needs ${ratio(furthest)} ${base}`;
}

function nameOf({ adapter }: ComparedAdapter): string {
  return oneLine(adapter, 40);
}
