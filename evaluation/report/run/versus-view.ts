import { count, oneLine } from '../../terminal/table.ts';
import { type TableView, tableView } from '../../terminal/table-view.ts';
import { bytesText, msText, ratioText } from '../wording.ts';
import type { ArchivedMetrics, ArchivedRun } from './archived-run.ts';

interface VersusRatio {
  readonly label: string;
  readonly ratio: number;
  readonly text: string;
}

/** Runs against the first of them. */
export interface VersusView {
  readonly finding: string;
  readonly table: TableView;
  readonly ratios: readonly VersusRatio[];
}

interface Figure {
  readonly name: string;
  /** Grows with the number of tasks. */
  readonly isSum: boolean;
  of(metrics: ArchivedMetrics): number;
  text(value: number): string;
}

const FIGURES: readonly Figure[] = [
  { name: 'bytes', isSum: true, of: ({ ledger }) => ledger.total.wire, text: bytesText },
  { name: 'payload', isSum: true, of: ({ ledger }) => ledger.total.payload, text: bytesText },
  { name: 'header', isSum: true, of: ({ ledger }) => ledger.total.header_size, text: bytesText },
  { name: 'session', isSum: false, of: ({ session_bytes }) => session_bytes, text: bytesText },
  { name: 'packets', isSum: true, of: ({ ledger }) => ledger.total.packets, text: count },
  { name: 'tokens', isSum: true, of: ({ token_sum }) => token_sum, text: count },
  { name: 'time', isSum: true, of: ({ elapsed_ms }) => elapsed_ms, text: msText },
];

/** null where there is only one run, or none. Runs of different numbers of tasks are compared by what one task takes. */
export function versusView(runs: readonly ArchivedRun[]): VersusView | null {
  const all = runs.map(({ metrics }) => metrics);
  const [first, second] = all;
  if (first === undefined || second === undefined) return null;
  const figures = all.every(({ tasks }) => tasks === first.tasks) ? FIGURES : FIGURES.map(perTask);
  const [bytes] = figures;
  const ratios = figures.flatMap((figure) => ratiosOf(figure, all, first));
  const ratio = bytes === undefined || bytes.of(first) === 0 ? null : bytes.of(second) / bytes.of(first);
  return {
    finding: `Run 2 sent ${ratio === null ? 'other bytes than' : `${ratioText(ratio)} the ${bytes?.name} of`} run 1`,
    table: versusTable(all, first, figures),
    ratios,
  };
}

function perTask(figure: Figure): Figure {
  const { name, isSum, of } = figure;
  if (!isSum) return figure;
  return { ...figure, name: `${name} per task`, of: (metrics) => of(metrics) / Math.max(1, metrics.tasks) };
}

/** Ratios that a logarithmic scale can hold. */
function ratiosOf(
  { name, of, text }: Figure,
  all: readonly ArchivedMetrics[],
  first: ArchivedMetrics,
): VersusRatio[] {
  return all.slice(1).flatMap((metrics, index) => {
    const [value, base] = [of(metrics), of(first)];
    if (value === 0 || base === 0) return [];
    const label = all.length > 2 ? `${name}, run ${index + 2}` : name;
    return [{ label, ratio: value / base, text: `${ratioText(value / base)} · ${text(value)}` }];
  });
}

function versusTable(
  all: readonly ArchivedMetrics[],
  first: ArchivedMetrics,
  figures: readonly Figure[],
): TableView {
  const row = (name: string, textOf: (metrics: ArchivedMetrics) => string) => [name, ...all.map(textOf)];
  return tableView(
    ['', ...all.map(({ adapter }, index) => `#${index + 1} ${oneLine(adapter, 40)}`)],
    [
      row('answer', ({ answer, status }) => oneLine(answer ?? status, 80)),
      row('tasks', ({ tasks }) => count(tasks)),
      row('team', ({ team }) => oneLine(team, 40)),
      row('engine', ({ engine }) => oneLine(engine, 40)),
      ...figures.map(({ name, of, text }) =>
        row(name, (metrics) => {
          const [value, base] = [of(metrics), of(first)];
          return metrics === first || base === 0
            ? text(value)
            : `${text(value)} (${ratioText(value / base)})`;
        }),
      ),
    ],
  );
}
