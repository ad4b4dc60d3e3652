import { type CycleSummary, nameChange } from '../../results/cycles.ts';
import { count, formatPercent, formatSignedPercent, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { bindNumbers, formatCounted } from '../wording.ts';
import type { NamedSummary } from './team-tables.ts';

interface CyclePoint {
  readonly cycle: number;
  readonly accuracy: number;
  readonly low: number;
  readonly high: number;
  readonly text: string;
}

/** Score by cycle: the first is that of first attempts, every later one has seen the questions. */
export interface CyclesView {
  readonly finding: string;
  readonly lines: readonly { readonly team: string; readonly points: readonly CyclePoint[] }[];
  readonly table: TableView;
  /** Kinds of questions that got worse or better from one cycle to the next; null if there are none. */
  readonly changes: { readonly finding: string; readonly table: TableView } | null;
  readonly passes: TableView;
}

/** Rows of the table of changes; what is beyond is in the summary (--json). */
const MAX_CHANGES = 200;

/** null where every question was asked once. */
export function buildCyclesView(teams: readonly NamedSummary[]): CyclesView | null {
  const repeated = teams.flatMap(([name, { cycles }]) => (cycles === undefined ? [] : [{ name, cycles }]));
  if (repeated.length === 0) return null;
  const lines = repeated.map(({ name, cycles }) => ({ team: name, points: cycles.flatMap(toCyclePoint) }));
  const changes = repeated.flatMap(({ name, cycles }) => listChanges(name, cycles));
  return {
    finding: bindNumbers(describeCycles(lines)),
    lines: lines.filter(({ points }) => points.length > 0),
    table: createTableView(
      ['team', '#cycle', '', '#right', '#accuracy', '#change', '#newly right', '#newly wrong'],
      repeated.flatMap(({ name, cycles }) => cycles.map((cycle) => formatCycleRow(name, cycle))),
    ),
    changes:
      changes.length === 0
        ? null
        : {
            finding: describeChanges(changes),
            table: createTableView(
              ['team', '#cycle', 'kind', '#before', '#now', '#of', '#95 % interval', ''],
              changes
                .toSorted((a, b) => rankChange(a) - rankChange(b))
                .slice(0, MAX_CHANGES)
                .map(({ cells }) => cells),
            ),
          },
    passes: buildPassesTable(teams),
  };
}

function toCyclePoint({ cycle, accuracy, low, high, correct, scored }: CycleSummary): CyclePoint[] {
  if (accuracy === null || low === null || high === null) return [];
  const what = cycle === 1 ? 'first attempts' : `cycle ${cycle}, repeats`;
  return [
    { cycle, accuracy, low, high, text: `${what}: ${correct} of ${scored} (${formatPercent(accuracy)})` },
  ];
}

function formatCycleRow(
  team: string,
  { cycle, correct, scored, accuracy, delta, ...row }: CycleSummary,
): string[] {
  return [
    team,
    String(cycle),
    cycle === 1 ? 'first attempts' : 'repeats',
    accuracy === null ? '–' : `${count(correct)} of ${count(scored)}`,
    formatPercent(accuracy),
    delta === null ? '–' : formatSignedPercent(delta),
    cycle === 1 ? '–' : count(row.newly_right),
    cycle === 1 ? '–' : count(row.newly_wrong),
  ];
}

interface Change {
  readonly word: string;
  readonly cells: readonly string[];
}

function listChanges(team: string, cycles: readonly CycleSummary[]): Change[] {
  return cycles.flatMap(({ cycle, categories }) =>
    categories.map(({ category, correct_before, correct, questions, ...change }) => ({
      word: nameChange(change),
      cells: [
        team,
        String(cycle),
        toOneLine(category, 40),
        count(correct_before),
        count(correct),
        count(questions),
        `${formatSignedPercent(change.low)} to ${formatSignedPercent(change.high)}`,
        nameChange(change),
      ],
    })),
  );
}

/** Regressions come first, and what may be chance last. */
function rankChange({ word }: Change): number {
  return ['REGRESSED', 'gained'].indexOf(word) === -1 ? 2 : ['REGRESSED', 'gained'].indexOf(word);
}

function describeChanges(changes: readonly Change[]): string {
  const counted = (word: string) => changes.filter((change) => change.word === word).length;
  const [worse, better] = [counted('REGRESSED'), counted('gained')];
  if (worse + better === 0) return 'No kind of question changed detectably from one cycle to the next';
  return bindNumbers(
    `From one cycle to the next ${formatCounted(worse, 'time')} a kind of question got worse, ${formatCounted(better, 'time')} one got better`,
  );
}

function describeCycles(lines: readonly { team: string; points: readonly CyclePoint[] }[]): string {
  const changes = lines.flatMap(({ team, points }) => {
    const [first] = points;
    const last = points.at(-1);
    if (first === undefined || last === undefined || first === last) return [];
    return [{ team, first, last, change: last.accuracy - first.accuracy }];
  });
  const [largest] = changes.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change));
  if (largest === undefined) return 'Nothing is scored, so there is no score by cycle';
  if (largest.change === 0) return 'Asked again, no team is right more often or less';
  const { team, first, last } = largest;
  return `${team} is right on ${formatRange(first)} at first attempts and on ${formatRange(last)} in cycle ${last.cycle}, when it has seen the questions (95 % intervals)`;
}

/** Formats an accuracy with its interval: `40.0 % (21.9–61.3 %)`. */
function formatRange({ accuracy, low, high }: CyclePoint): string {
  return `${formatPercent(accuracy)} (${(low * 100).toFixed(1)}–${formatPercent(high)})`;
}

function buildPassesTable(teams: readonly NamedSummary[]): TableView {
  const rows = teams.flatMap(([name, { pass_at, pass_hat, pass_hat_talked: talked }]) =>
    pass_at === undefined || pass_hat === undefined
      ? []
      : Object.keys(pass_at).map((k) => [
          ...[name, k, formatPercent(pass_at[k] ?? null), formatPercent(pass_hat[k] ?? null)],
          formatPercent(talked?.by[k] ?? null),
          count(talked?.questions ?? 0),
        ]),
  );
  return createTableView(
    [
      'team',
      '#k',
      '#pass@k: one of k right',
      '#pass^k: all k right',
      '#pass^k where agents talked',
      '#such questions',
    ],
    rows,
  );
}
