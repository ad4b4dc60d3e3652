import type { BatchData } from '../../report/page-data.ts';
import { nameChange } from '../../results/cycles.ts';
import type { Figures } from '../../results/figures.ts';
import { computeTokenShares } from '../../results/token-shares.ts';
import { count, formatDecimals, formatPercent, formatPoints } from '../../terminal/table.ts';
import { toLine, UNKNOWN } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

type TeamFigures = BatchData['teams'][number];
type Summary = TeamFigures['summary'];

/** A figure of every team. A figure that no team has is left out. */
interface FigureRow {
  readonly about: string;
  readonly name: string;
  readonly read: (summary: Summary) => number | null;
  /** Formats the figure, and a second line in small letters. */
  readonly format?: (value: number, summary: Summary) => string | readonly [text: string, small: string];
  /** True for a share, by which the cell is shaded. */
  readonly isShaded?: boolean;
}

interface FiguresCardProps {
  readonly teams: readonly TeamFigures[];
  readonly title: string;
  readonly about: string;
  readonly id: string;
  readonly nav?: string;
  readonly rows: readonly FigureRow[];
  /** A sentence on the figures of a team. */
  readonly explain: string;
}

/** Maximum rows, since teams choose the names of tools and roles and may invent any number of them. */
const MAX_ROWS = 200;

/** A table of figures with a column for each team. */
function FiguresCard({ teams, title, about, id, nav, rows, explain }: FiguresCardProps) {
  const shown = rows
    .filter(({ read }) => teams.some(({ summary }) => (read(summary) ?? 0) !== 0))
    .slice(0, MAX_ROWS);
  if (shown.length === 0) return null;
  const columns: Column<FigureRow>[] = [
    { header: 'about', value: (row) => row.about },
    { header: 'what', isText: true, value: ({ name }) => toLine(name, 60) },
    ...teams.map(
      ({ name, summary }): Column<FigureRow> => ({
        header: toLine(name, 40),
        explain: `${explain} of ${toLine(name, 40)}.`,
        value: ({ read }) => read(summary),
        format: (row) => listTexts(row, summary).join(' '),
        cell: (row) => drawFigure(row, summary),
      }),
    ),
  ];
  return (
    <Card title={title} id={id} nav={nav} about={about}>
      <ResultTable label={title} rows={shown} columns={columns} atFirst={40} />
    </Card>
  );
}

function listTexts({ read, format = count, isShaded = false }: FigureRow, summary: Summary): string[] {
  const value = read(summary);
  return value === null || (value === 0 && !isShaded) ? [UNKNOWN] : [format(value, summary)].flat();
}

/** Draws a figure with its second line, shaded by its share. */
function drawFigure(row: FigureRow, summary: Summary) {
  const [text, small] = listTexts(row, summary);
  if (small === undefined) return text;
  const share = row.isShaded ? Math.round(60 * (row.read(summary) ?? 0)) : 0;
  return (
    <span class="shade" style={{ '--share': `${share}%` }}>
      {text}
      <small>{small}</small>
    </span>
  );
}

/** How often teams were right by level, kind and cycle, and how they worked: their pace, failures and tools, and what models read. */
export function TeamFigureCards({ teams }: { readonly teams: readonly TeamFigures[] }) {
  return (
    <>
      <FiguresCard
        teams={teams}
        title="Right answers by level, kind and cycle"
        id="groups"
        nav="By kind"
        explain="Right answers to the questions of the row"
        about="By first attempts, with the 95 % interval of the accuracy; a stronger shade is a higher accuracy. Groups of a few questions tell little: look at the interval. In every cycle after the first, the team has seen the questions; a gain in one kind of question does not make up for a loss in another."
        rows={[
          ...listGroups(teams, 'levels', 'level'),
          ...listGroups(teams, 'categories', 'kind'),
          ...listCycles(teams),
        ]}
      />
      <FiguresCard
        teams={teams}
        title="How each team worked"
        id="work"
        nav="Failures and tools"
        explain="By all attempts, repeats included; per question: as a mean of those that were not answered from the cache. Figures"
        about="Failures have the role that gave up, where the team says it, and the first known weakness of such teams that fits, by rule of thumb. A tool that failed said so, and the team went on. Each token of a prompt is on one line; those of models whose tokens are not public are counted by o200k_base."
        rows={listWork(teams)}
      />
    </>
  );
}

/** Maximum kinds of questions that are shown: a file may name a different kind for each question. */
const MAX_GROUPS = 40;

/** Lists the levels or kinds of questions, the largest first; a single one would repeat the scores. */
function listGroups(teams: readonly TeamFigures[], key: 'levels' | 'categories', about: string): FigureRow[] {
  const sizes = new Map<string, number>();
  for (const { summary } of teams)
    for (const [name, { questions }] of Object.entries(summary[key])) sizes.set(name, questions);
  if (sizes.size < 2) return [];
  return [...sizes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_GROUPS)
    .map(([name]) => createShareRow(about, name, (summary) => summary[key][name]));
}

function createShareRow(
  about: string,
  name: string,
  find: (summary: Summary) => Figures | undefined,
  describe = ({ low, high }: Figures, _summary: Summary) =>
    `${formatPercent(low ?? 0, 0)} to ${formatPercent(high ?? 1, 0)}`,
): FigureRow {
  return {
    about,
    name,
    isShaded: true,
    read: (summary) => find(summary)?.accuracy ?? null,
    format: (_, summary) => {
      const own = find(summary);
      return own === undefined
        ? UNKNOWN
        : [`${count(own.correct)} of ${count(own.scored)}`, describe(own, summary)];
    },
  };
}

function listCycles(teams: readonly TeamFigures[]): FigureRow[] {
  const find = ({ cycles = [] }: Summary, at: number) => cycles.find(({ cycle }) => cycle === at);
  const numbers = [
    ...new Set(teams.flatMap(({ summary }) => (summary.cycles ?? []).map(({ cycle }) => cycle))),
  ];
  return numbers.flatMap((at) => {
    const kinds = new Set(
      teams.flatMap(({ summary }) => (find(summary, at)?.categories ?? []).map(({ category }) => category)),
    );
    const readChange = (summary: Summary, kind: string) =>
      find(summary, at)?.categories.find(({ category }) => category === kind);
    return [
      createShareRow(
        'cycle',
        String(at),
        (summary) => find(summary, at),
        (_, summary) => {
          const { delta = null, newly_right, newly_wrong } = find(summary, at) ?? {};
          return delta === null
            ? 'first attempts'
            : `${formatPoints(delta)} points: ${newly_right} newly right, ${newly_wrong} newly wrong`;
        },
      ),
      ...[...kinds].map(
        (kind): FigureRow => ({
          about: `change in cycle ${at}`,
          name: kind,
          read: (summary) => readChange(summary, kind)?.delta ?? null,
          format: (_, summary) => {
            const change = readChange(summary, kind);
            if (change === undefined) return UNKNOWN;
            const { correct_before, correct, questions, low, high } = change;
            return [
              `${nameChange(change)}: ${correct_before} → ${correct} of ${questions}`,
              `${formatPoints(low)} to ${formatPoints(high)} points`,
            ];
          },
        }),
      ),
    ];
  });
}

const GAPS: Readonly<Record<keyof Required<Summary['failures']['by_gap']>, string>> = {
  proprietary_api: 'needs a key',
  web_archive: 'web archive',
  image_only: 'image or video',
  multi_hop: 'many steps, none checked',
  other: 'other',
};

function listWork(teams: readonly TeamFigures[]): FigureRow[] {
  const share = (value: number) => formatPercent(value);
  const decimals = (digits: number) => (value: number) => formatDecimals(value, digits);
  const listPrompts = (summary: Summary) => computeTokenShares(summary.token_ledger?.prompt ?? []);
  const pace = (
    name: string,
    key: Exclude<keyof Summary['metrics'], 'tool_usage'>,
    format: FigureRow['format'] = count,
  ): FigureRow => ({ about: 'pace', name, read: ({ metrics }) => metrics[key], format });
  const first = (name: string, key: 'failed' | 'timeout' | 'not_asked'): FigureRow => ({
    about: 'first attempts',
    name,
    read: ({ [key]: times }) => times,
  });
  return [
    pace('attempts', 'questions_processed'),
    pace('errors', 'error_rate', share),
    pace('from the cache', 'cache_hit_rate', share),
    pace('model calls per question', 'model_calls_per_question', decimals(1)),
    pace('seconds per question', 'seconds_per_question', decimals(2)),
    pace('seconds per cached answer', 'seconds_per_cached', decimals(3)),
    first('failed', 'failed'),
    first('out of time', 'timeout'),
    first('not asked', 'not_asked'),
    ...listNamed(teams, 'failures by role', ({ failures }) => failures.by_role),
    ...listNamed(teams, 'wrong or failed', ({ failures: { by_gap: gaps } }) =>
      Object.fromEntries(
        Object.entries(GAPS).map(([gap, name]) => [name, gaps[gap as keyof typeof GAPS] ?? 0]),
      ),
    ),
    ...listNamed(teams, 'tool calls', ({ metrics: { tool_usage: tools } }) =>
      mapValues(tools, ({ count }) => count),
    ).map(
      (row): FigureRow => ({
        ...row,
        format(calls, { metrics }) {
          const { failed = 0 } = metrics.tool_usage[row.name] ?? {};
          return `${count(calls)}${failed === 0 ? '' : ` (${count(failed)} failed)`}`;
        },
      }),
    ),
    ...listNamed(teams, 'model calls by role', ({ roles }) => mapValues(roles, ({ calls }) => calls)),
    ...listNamed(teams, 'prompt tokens', (summary) =>
      Object.fromEntries(listPrompts(summary).map(({ label, tokens }) => [label, tokens])),
    ).map(
      (row): FigureRow => ({
        ...row,
        format(tokens, summary) {
          const { share: part = 0, again = 0 } =
            listPrompts(summary).find(({ label }) => label === row.name) ?? {};
          const repeated = again > 0 ? `; ${formatPercent(again / tokens, 0)} of it again` : '';
          return `${count(tokens)} (${formatPercent(part)}${repeated})`;
        },
      }),
    ),
  ];
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  read: (value: Value) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, read(value)]));
}

/** Lists counts by the names that any team has, the most frequent first. */
function listNamed(
  teams: readonly TeamFigures[],
  about: string,
  read: (summary: Summary) => Readonly<Record<string, number>>,
): FigureRow[] {
  const sums = new Map<string, number>();
  for (const { summary } of teams)
    for (const [name, value] of Object.entries(read(summary))) sums.set(name, (sums.get(name) ?? 0) + value);
  return [...sums]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name]) => ({ about, name, read: (summary) => read(summary)[name] ?? 0 }));
}
