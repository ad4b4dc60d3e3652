import { noiseFloor } from '../../core/statistics/verdict.ts';
import { decimals, oneLine } from '../terminal/table.ts';
import { type BytesView, bytesTable, byteWaterfall } from './byte-waterfall.ts';
import type { ComparedAdapter, ComparisonFigures } from './comparison-file.ts';
import { bytesFinding, latencyFinding, timeFinding } from './comparison-findings.ts';
import { againstText, comparisonTable, intervalText, nameOf } from './comparison-table.ts';
import { type DistributionsView, distribution, distributionsTable } from './distribution.ts';
import { type GrowthView, growthView } from './growth-view.ts';
import { type TableView, tableView } from './table-view.ts';
import { bound, bytesText, counted, ratioText } from './wording.ts';

/** A ratio with its interval; `high` is null where there are too few rounds for one. */
export interface RatioView {
  readonly label: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number | null;
  readonly verdict: string;
  /** A difference that was detected. */
  readonly isDetected: boolean;
  readonly text: string;
}

export interface ComparisonView {
  readonly sentence: string;
  readonly made: string;
  readonly table: TableView;
  readonly baseline: string;
  readonly bytes: BytesView;
  readonly time: {
    readonly finding: string;
    readonly ratios: readonly RatioView[];
    /** The ratios that the baseline shows against itself; null where there are too few rounds to know. */
    readonly noise: { readonly low: number; readonly high: number } | null;
    readonly table: TableView;
  };
  /** null for a comparison that has not kept its rounds, or has too few. */
  readonly latency: DistributionsView | null;
  /** null for a comparison of one run. */
  readonly growth: GrowthView | null;
}

/** A comparison as the page shows it: adapters by their bytes, fewest first; times by their ratio. */
export function comparisonView(file: ComparisonFigures): ComparisonView {
  const byBytes = file.adapters.toSorted((a, b) => a.ledger.total.wire - b.ledger.total.wire);
  const byTime = file.adapters.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const base = file.adapters.find(({ vs_baseline }) => vs_baseline === null)?.ledger.total.wire ?? 0;
  return {
    sentence: bound(oneLine(file.sentence, 400)),
    made: madeText(file),
    table: comparisonTable(file, byBytes, base),
    baseline: nameOf(file.baseline),
    bytes: {
      finding: bytesFinding(file),
      waterfalls: byBytes.map(({ adapter, ledger: { total } }) =>
        byteWaterfall(nameOf(adapter), total, `${bytesText(total.wire)} · ${againstText(total.wire, base)}`),
      ),
      table: bytesTable(byBytes.map(({ adapter, ledger }) => [nameOf(adapter), ledger.total])),
    },
    time: timesOf(file, byTime),
    latency: latencyOf(file, byTime),
    growth: growthView(file),
  };
}

function timesOf(file: ComparisonFigures, adapters: readonly ComparedAdapter[]): ComparisonView['time'] {
  const { low, high } = noiseFloor({
    ...file.null_test,
    high: file.null_test.high ?? Number.POSITIVE_INFINITY,
  });
  const noise = low > 0 && Number.isFinite(high) ? { low, high } : null;
  const ratios = ratiosOf(file, adapters, noise);
  return {
    finding: timeFinding(file),
    ratios,
    noise,
    table: tableView(
      ['', '#ratio', '#95 % interval', 'verdict'],
      ratios.map((row) => [row.label, ratioText(row.ratio), intervalText(row), row.verdict]),
    ),
  };
}

function latencyOf(file: ComparisonFigures, adapters: readonly ComparedAdapter[]): DistributionsView | null {
  const distributions = adapters.flatMap(({ adapter, samples_us }) =>
    distribution(
      nameOf(adapter),
      samples_us.map((us) => us / 1000),
    ),
  );
  if (distributions.length === 0) return null;
  return { finding: latencyFinding(file), distributions, table: distributionsTable(distributions) };
}

function ratioOf({ vs_baseline }: ComparedAdapter): number {
  return vs_baseline?.time.ratio ?? 1;
}

/** The baseline's line is the null test: the same adapter, played a second time in every round. */
function ratiosOf(
  { baseline, null_test }: ComparisonFigures,
  adapters: readonly ComparedAdapter[],
  noise: ComparisonView['time']['noise'],
): RatioView[] {
  const rows = adapters.map(({ adapter, vs_baseline }) => {
    const { ratio, low, high } = vs_baseline?.time ?? null_test;
    if (vs_baseline === null) {
      const text =
        noise === null ? 'noise unknown' : `noise ${decimals(noise.low, 2)}–${ratioText(noise.high)}`;
      return { label: `${nameOf(baseline)} again`, ratio, low, high, verdict: text, isDetected: false, text };
    }
    const { verdict } = vs_baseline.time;
    const isDetected = verdict !== 'no detectable difference';
    const text = `${ratioText(ratio)} ${isDetected ? verdict : 'no difference'}`;
    return { label: nameOf(adapter), ratio, low, high, verdict, isDetected, text };
  });
  return rows.toSorted((a, b) => a.ratio - b.ratio);
}

const STOPPED = {
  precise: 'until the intervals were narrow',
  rounds: 'as many as were asked for',
  budget: 'all that fitted the time',
};

function madeText({ packets, tasks, rounds, stopped, seed, environment }: ComparisonFigures): string {
  const { cpu, node } = environment;
  return (
    `${counted(packets, 'packet')} of ${counted(tasks, 'task')}, recorded once and played through every adapter; ` +
    `${counted(rounds, 'round')} (${STOPPED[stopped]}), seed ${seed}. ` +
    oneLine(`${cpu ?? 'unknown processor'}, Node ${node ?? 'unknown'}`, 120)
  );
}
