import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { formatInterval, formatVerdict } from '../../compare/verdict-text.ts';
import { judgeComparisons } from '../../statistics/level-verdicts.ts';
import { compareNestedSamples, MIN_INVOCATIONS } from '../../statistics/levels.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { bindNumbers, formatBytes, formatMs, formatRatio } from '../wording.ts';
import type { ArchivedRun } from './archived-run.ts';

/** Runs against the first of them. */
export interface VersusView {
  readonly finding: string;
  readonly table: TableView;
  /** Description of the times. */
  readonly times: string;
}

interface Figure {
  readonly name: string;
  /** Grows with the number of tasks. */
  readonly isSum: boolean;
  /** True if the figure is the same in every run of the same packets, so that two runs are enough to compare. */
  readonly isExact: boolean;
  of(metrics: RunMetrics): number;
  text(value: number): string;
}

const FIGURES: readonly Figure[] = [
  { name: 'bytes', isSum: true, isExact: true, of: ({ ledger }) => ledger.total.wire, text: formatBytes },
  {
    name: 'payload',
    isSum: true,
    isExact: true,
    of: ({ ledger }) => ledger.total.payload,
    text: formatBytes,
  },
  {
    name: 'header',
    isSum: true,
    isExact: true,
    of: ({ ledger }) => ledger.total.header_size,
    text: formatBytes,
  },
  {
    name: 'session',
    isSum: false,
    isExact: true,
    of: ({ session_bytes }) => session_bytes,
    text: formatBytes,
  },
  { name: 'packets', isSum: true, isExact: true, of: ({ ledger }) => ledger.total.packets, text: count },
  { name: 'tokens', isSum: true, isExact: true, of: ({ token_sum }) => token_sum, text: count },
  { name: 'time', isSum: true, isExact: false, of: ({ elapsed_ms }) => elapsed_ms, text: formatMs },
];

/** null where there is only one run, or none. Runs of different numbers of tasks are compared by what one task takes. */
export function buildVersusView(runs: readonly ArchivedRun[]): VersusView | null {
  const all = runs.map(({ metrics }) => metrics);
  const [first, second] = all;
  if (first === undefined || second === undefined) return null;
  const figures = all.every(({ tasks }) => tasks === first.tasks) ? FIGURES : FIGURES.map(toPerTask);
  const [bytes] = figures;
  return {
    finding: bytes === undefined ? '' : describeBytes(bytes, first, second),
    table: buildVersusTable(all, first, figures),
    times: bindNumbers(describeTimes(all, first)),
  };
}

function describeBytes({ name, of }: Figure, first: RunMetrics, second: RunMetrics): string {
  const [base, other] = [of(first), of(second)];
  if (other === base) return `Run 2 sent as many ${name} as run 1`;
  return `Run 2 sent ${base === 0 ? 'other bytes than' : `${formatRatio(other / base)} the ${name} of`} run 1`;
}

/**
 * Times of runs are judged as those of invocations: each run is a set of fresh processes, and has one time. Of a single run of each
 * setting nothing can be said, whatever the ratio.
 */
function describeTimes(all: readonly RunMetrics[], first: RunMetrics): string {
  const bySetting = Map.groupBy(all, formatSetting);
  const timesOf = (runs: readonly RunMetrics[]) =>
    runs.map(({ elapsed_ms, tasks }) => Math.max(elapsed_ms, Number.MIN_VALUE) / Math.max(1, tasks));
  const [base = [], ...others] = [...bySetting.values()];
  if (others.length === 0) {
    const times = timesOf(all);
    return (
      `The ${count(all.length)} runs have the same setting (${formatSetting(first)}). A task took ${formatMs(Math.min(...times))} to ` +
      `${formatMs(Math.max(...times))}: that is how much one run differs from another.`
    );
  }
  const fewest = Math.min(base.length, ...others.map(({ length }) => length));
  if (fewest < MIN_INVOCATIONS) {
    const runs = `${count(fewest)} run${fewest === 1 ? '' : 's'}`;
    return (
      `Times are not set against each other: of ${runs} of a setting nothing can be told, since two runs of the same setting differ, too. ` +
      `It takes at least ${MIN_INVOCATIONS} runs of each; compare makes them by itself.`
    );
  }
  const compared = others.map((runs) => {
    const pairs = Math.min(base.length, runs.length);
    const column = (of: readonly RunMetrics[]) => timesOf(of.slice(0, pairs)).map((ms) => [ms]);
    return compareNestedSamples(column(base), column(runs), 1);
  });
  const parts = judgeComparisons(compared).map((judged, index) => {
    const runs = others[index] ?? [];
    const setting = runs[0] === undefined ? '' : formatSetting(runs[0]);
    const verdict = formatVerdict(judged);
    return `${setting}: ${verdict} (${formatDecimals(judged.ratio, 2)} times, 95 % interval ${formatInterval(judged)}, ${count(runs.length)} runs)`;
  });
  return `Time of a task against ${formatSetting(first)} (${count(base.length)} runs). ${parts.join('; ')}.`;
}

function formatSetting({ team, engine, adapter }: RunMetrics): string {
  return [team, engine, adapter].map((name) => toOneLine(name, 40)).join(', ');
}

function toPerTask(figure: Figure): Figure {
  const { name, isSum, of } = figure;
  if (!isSum) return figure;
  return { ...figure, name: `${name} per task`, of: (metrics) => of(metrics) / Math.max(1, metrics.tasks) };
}

function buildVersusTable(
  all: readonly RunMetrics[],
  first: RunMetrics,
  figures: readonly Figure[],
): TableView {
  const row = (name: string, textOf: (metrics: RunMetrics) => string) => [name, ...all.map(textOf)];
  return createTableView(
    ['', ...all.map(({ adapter }, index) => `#${index + 1} ${toOneLine(adapter, 40)}`)],
    [
      row('answer', ({ answer, status }) => toOneLine(answer ?? status, 80)),
      row('tasks', ({ tasks }) => count(tasks)),
      row('team', ({ team }) => toOneLine(team, 40)),
      row('engine', ({ engine }) => toOneLine(engine, 40)),
      ...figures.map(({ name, isExact, of, text }) =>
        row(name, (metrics) => {
          const [value, base] = [of(metrics), of(first)];
          return metrics === first || base === 0 || !isExact
            ? text(value)
            : `${text(value)} (${formatRatio(value / base)})`;
        }),
      ),
    ],
  );
}
