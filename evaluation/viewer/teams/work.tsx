import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { computeTokenShares, TOKEN_LABELS } from '../../results/token-shares.ts';
import { count, formatDecimals, formatPercent } from '../../terminal/table.ts';
import { toLine, UNKNOWN } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

type Summary = TeamFigures['summary'];

/** A figure of every team. A figure that no team has is left out. */
interface FigureRow {
  readonly about: string;
  readonly name: string;
  readonly read: (summary: Summary) => number | null;
  readonly format?: (value: number, summary: Summary) => string;
}

/** Maximum rows, since teams choose the names of tools and roles and may invent any number of them. */
const MAX_ROWS = 200;

const GAPS: Readonly<Record<keyof Required<Summary['failures']['by_gap']>, string>> = {
  proprietary_api: 'needs a key',
  web_archive: 'web archive',
  image_only: 'image or video',
  multi_hop: 'many steps, none checked',
  other: 'other',
};

/** Shows how the teams worked: their pace, their failures, the tools that they asked, and what their models read. */
export function WorkCard({ teams }: Pick<BatchData, 'teams'>) {
  const rows = listFigures(teams)
    .filter(({ read }) => teams.some(({ summary }) => (read(summary) ?? 0) !== 0))
    .slice(0, MAX_ROWS);
  const columns: Column<FigureRow>[] = [
    { header: 'about', value: ({ about }) => about },
    { header: 'what', isText: true, value: ({ name }) => toLine(name, 60) },
    ...teams.map(
      ({ name, summary }): Column<FigureRow> => ({
        header: toLine(name, 40),
        isNumber: true,
        explain: `Of all attempts of ${toLine(name, 40)}, repeats included; per question: as a mean of those that were not answered from the cache.`,
        value: ({ read }) => read(summary),
        cell: ({ read, format = count }) => {
          const value = read(summary);
          return value === null || value === 0 ? UNKNOWN : format(value, summary);
        },
      }),
    ),
  ];
  return (
    <Card
      title="How each team worked"
      id="work"
      nav="Failures and tools"
      about="Failures have the role that gave up, where the team says it, and the first known weakness of such teams that fits, by rule of thumb. A tool that failed was told so and went on. Each token of a prompt is on one line; those of models whose tokens are not public are counted by o200k_base."
    >
      <ResultTable label="How each team worked" rows={rows} columns={columns} atFirst={40} />
    </Card>
  );
}

function listFigures(teams: BatchData['teams']): FigureRow[] {
  const share = (value: number) => formatPercent(value);
  const prompts = (summary: Summary) => computeTokenShares(summary.token_ledger?.prompt ?? []);
  const findPrompt = (summary: Summary, kind: string) => prompts(summary).find((one) => one.kind === kind);
  return [
    { about: 'pace', name: 'attempts', read: ({ metrics }) => metrics.questions_processed },
    { about: 'pace', name: 'errors', read: ({ metrics }) => metrics.error_rate, format: share },
    { about: 'pace', name: 'from the cache', read: ({ metrics }) => metrics.cache_hit_rate, format: share },
    {
      about: 'pace',
      name: 'model calls per question',
      read: ({ metrics }) => metrics.model_calls_per_question,
      format: (calls) => formatDecimals(calls, 1),
    },
    {
      about: 'pace',
      name: 'seconds per question',
      read: ({ metrics }) => metrics.seconds_per_question,
      format: (seconds) => formatDecimals(seconds, 2),
    },
    {
      about: 'pace',
      name: 'seconds per cached answer',
      read: ({ metrics }) => metrics.seconds_per_cached,
      format: (seconds) => formatDecimals(seconds, 3),
    },
    { about: 'first attempts', name: 'failed', read: ({ failed }) => failed },
    { about: 'first attempts', name: 'out of time', read: ({ timeout }) => timeout },
    { about: 'first attempts', name: 'not asked', read: ({ not_asked }) => not_asked },
    ...listNames(teams, ({ failures }) => failures.by_role).map(
      (role): FigureRow => ({
        about: 'failures by role',
        name: role,
        read: ({ failures }) => failures.by_role[role] ?? 0,
      }),
    ),
    ...(Object.keys(GAPS) as (keyof typeof GAPS)[]).map(
      (gap): FigureRow => ({
        about: 'wrong or failed',
        name: GAPS[gap],
        read: ({ failures }) => failures.by_gap[gap] ?? 0,
      }),
    ),
    ...listNames(teams, ({ metrics }) => metrics.tool_usage).map(
      (tool): FigureRow => ({
        about: 'tool calls',
        name: tool,
        read: ({ metrics }) => metrics.tool_usage[tool]?.count ?? 0,
        format(calls, { metrics }) {
          const { failed = 0 } = metrics.tool_usage[tool] ?? {};
          return `${count(calls)}${failed === 0 ? '' : ` (${count(failed)} failed)`}`;
        },
      }),
    ),
    ...listNames(teams, ({ roles }) =>
      Object.fromEntries(Object.entries(roles).map(([role, { calls }]) => [role, calls])),
    ).map(
      (role): FigureRow => ({
        about: 'model calls by role',
        name: role,
        read: ({ roles }) => roles[role]?.calls ?? 0,
      }),
    ),
    ...Object.entries(TOKEN_LABELS).map(
      ([kind, name]): FigureRow => ({
        about: 'prompt tokens',
        name,
        read: (summary) => findPrompt(summary, kind)?.tokens ?? 0,
        format(tokens, summary) {
          const { share: part = 0, again = 0 } = findPrompt(summary, kind) ?? {};
          const repeated = again > 0 ? `; ${formatPercent(again / tokens, 0)} of it again` : '';
          return `${count(tokens)} (${formatPercent(part)}${repeated})`;
        },
      }),
    ),
  ];
}

/** Lists the names that any team has, the most frequent first. */
function listNames(
  teams: BatchData['teams'],
  read: (summary: Summary) => Readonly<Record<string, number | { readonly count: number }>>,
): string[] {
  const sums = new Map<string, number>();
  for (const { summary } of teams)
    for (const [name, value] of Object.entries(read(summary)))
      sums.set(name, (sums.get(name) ?? 0) + (typeof value === 'number' ? value : value.count));
  return [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
}
