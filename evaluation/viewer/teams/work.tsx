import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { computeTokenShares, TOKEN_LABELS } from '../../results/token-shares.ts';
import { formatCount, formatDecimals, formatPercent, toLine } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';

type Summary = TeamFigures['summary'];

/** A row of a table that has a column for each team; without a value in any of them it is left out. */
interface FigureRow {
  readonly name: string;
  readonly read: (summary: Summary) => number;
  readonly format?: (summary: Summary) => string;
}

/** Rows of one table: names of tools and roles come from the teams, and a team may make them up. */
const MAX_ROWS = 60;

const GAPS: Readonly<Record<keyof Required<Summary['failures']['by_gap']>, string>> = {
  proprietary_api: 'kind: needs a key',
  web_archive: 'kind: web archive',
  image_only: 'kind: image or video',
  multi_hop: 'kind: many steps, none checked',
  other: 'kind: other',
};

/** Shows how the teams worked: their failures, the tools that they asked, and what their models read. */
export function WorkCards({ teams }: Pick<BatchData, 'teams'>) {
  return (
    <>
      <FiguresCard
        title="What went wrong"
        nav="Failures and tools"
        about="The first four rows are of first attempts, those below of all. role: where the team says which of its roles gave up. kind: every wrong or failed attempt under the first known weakness of such teams that fits it, by rule of thumb."
        first="what"
        of="Attempts"
        teams={teams}
        rows={listFailures(teams)}
      />
      <FiguresCard
        title="Tools that were asked"
        about="Calls of all attempts that were not answered from the cache. A call that failed was told so and went on: no key, no network, a file that cannot be read."
        first="tool"
        of="Calls"
        teams={teams}
        rows={listFrequentNames(teams, ({ metrics }) => metrics.tool_usage).map((name) => ({
          name,
          read: ({ metrics }) => metrics.tool_usage[name]?.count ?? 0,
          format({ metrics }) {
            const { count = 0, failed = 0 } = metrics.tool_usage[name] ?? {};
            return `${formatCount(count)}${failed === 0 ? '' : ` (${formatCount(failed)} failed)`}`;
          },
        }))}
      />
      <PaceCard teams={teams} />
      <RolesCard teams={teams} />
      <FiguresCard
        title="Where the prompt tokens went"
        about="Each token of each prompt is on one line; they sum to the servers’ own figures. Again: read before in the same question. Models whose tokens are not public are counted by o200k_base; what their server counts otherwise is the last line."
        first="part of the prompts"
        of="Prompt tokens"
        teams={teams}
        rows={computeTokenShares(teams.flatMap(({ summary }) => listPrompts(summary))).map(({ kind }) => {
          const find = (summary: Summary) =>
            computeTokenShares(listPrompts(summary)).find((one) => one.kind === kind);
          return {
            name: TOKEN_LABELS[kind],
            read: (summary) => find(summary)?.tokens ?? 0,
            format(summary) {
              const { tokens = 0, share = 0, again = 0 } = find(summary) ?? {};
              const repeated = again > 0 ? `; ${formatPercent(again / tokens, 0)} of it again` : '';
              return `${formatCount(tokens)} (${formatPercent(share)}${repeated})`;
            },
          };
        })}
      />
      <BillsCard teams={teams} />
    </>
  );
}

interface FiguresCardProps extends Pick<BatchData, 'teams'> {
  readonly title: string;
  readonly about: string;
  readonly nav?: string;
  /** Heading of the names of the rows. */
  readonly first: string;
  /** The unit that is counted. */
  readonly of: string;
  readonly rows: readonly FigureRow[];
}

function FiguresCard({ title, about, nav, first, of, teams, rows }: FiguresCardProps) {
  const known = rows
    .filter(({ read }) => teams.some(({ summary }) => read(summary) !== 0))
    .slice(0, MAX_ROWS);
  if (known.length === 0) return null;
  const columns: Column<FigureRow>[] = [
    { header: first, isText: true, value: ({ name }) => toLine(name, 60) },
    ...teams.map(
      ({ name, summary }): Column<FigureRow> => ({
        header: toLine(name, 40),
        isNumber: true,
        explain: `${of} of ${toLine(name, 40)}, counted as they ended.`,
        value: ({ read }) => read(summary),
        cell: ({ read, format }) => {
          const value = read(summary);
          return value === 0 ? '–' : format === undefined ? formatCount(value) : format(summary);
        },
      }),
    ),
  ];
  return (
    <Card size="half" title={title} about={about} id={nav === undefined ? undefined : 'work'} nav={nav}>
      <ResultTable label={title} rows={known} columns={columns} />
    </Card>
  );
}

function listFailures(teams: BatchData['teams']): FigureRow[] {
  const isPartlyScored = teams.some(({ summary }) => summary.scored < summary.questions);
  return [
    {
      name: isPartlyScored ? 'answered, but wrong or not scored' : 'answered, but wrong',
      read: ({ answered, correct, accuracy }) => (accuracy === null ? 0 : answered - correct),
    },
    { name: 'failed', read: ({ failed }) => failed },
    { name: 'out of time', read: ({ timeout }) => timeout },
    { name: 'not asked', read: ({ not_asked }) => not_asked },
    ...listFrequentNames(teams, ({ failures }) => failures.by_role).map((role) => ({
      name: `role: ${role}`,
      read: ({ failures }: Summary) => failures.by_role[role] ?? 0,
    })),
    ...(Object.keys(GAPS) as (keyof typeof GAPS)[]).map((gap) => ({
      name: GAPS[gap],
      read: ({ failures }: Summary) => failures.by_gap[gap] ?? 0,
    })),
  ];
}

function PaceCard({ teams }: Pick<BatchData, 'teams'>) {
  const columns: Column<TeamFigures>[] = [
    { header: 'team', value: ({ name }) => toLine(name, 60) },
    createCount(
      'attempts',
      ({ summary }) => summary.metrics.questions_processed,
      'Attempts that ended, repeats included.',
    ),
    {
      header: 'errors',
      isNumber: true,
      value: ({ summary }) => summary.metrics.error_rate,
      format: formatPercent,
      explain: 'Share of the attempts that failed or ran out of time.',
    },
    {
      header: 'from the cache',
      isNumber: true,
      isWide: true,
      value: ({ summary }) => summary.metrics.cache_hit_rate,
      format: formatPercent,
      explain: 'Share of the attempts that the answers’ cache answered.',
    },
    {
      header: 'model calls',
      isNumber: true,
      value: ({ summary }) => summary.metrics.model_calls_per_question,
      format: (calls) => formatDecimals(calls, 1),
      explain: 'Replies of models, as a mean of the attempts that were not answered from the cache.',
    },
    {
      header: 'seconds',
      isNumber: true,
      value: ({ summary }) => summary.metrics.seconds_per_question,
      format: (seconds) => formatDecimals(seconds, 2),
      explain:
        'From the question to the answer, as a mean of the attempts that were not answered from the cache.',
    },
    {
      header: 'seconds if cached',
      isNumber: true,
      isWide: true,
      value: ({ summary }) => summary.metrics.seconds_per_cached,
      format: (seconds) => formatDecimals(seconds, 3),
      explain: 'From the question to the answer, as a mean of the answers from the cache.',
    },
  ];
  return (
    <Card size="half" title="How each team worked" about="Of all attempts, repeats included.">
      <ResultTable label="How each team worked" rows={teams} columns={columns} />
    </Card>
  );
}

function RolesCard({ teams }: Pick<BatchData, 'teams'>) {
  const rows = teams
    .flatMap(({ name, summary }) =>
      Object.entries(summary.roles).map(([role, sum]) => ({ team: name, role, ...sum })),
    )
    .slice(0, MAX_ROWS);
  if (rows.length === 0) return null;
  const columns: Column<(typeof rows)[number]>[] = [
    { header: 'team', value: ({ team }) => toLine(team, 60) },
    { header: 'role and model', isText: true, value: ({ role }) => toLine(role, 60) },
    createCount('calls', ({ calls }) => calls, 'Replies of the model to this role.'),
    createCount(
      'tokens read',
      (row) => row.prompt_tokens,
      'Tokens of the prompts, as the model’s server counted them.',
    ),
    createCount(
      'tokens written',
      (row) => row.completion_tokens,
      'Tokens of the replies, as the model’s server counted them.',
    ),
    {
      header: 'cost $',
      isNumber: true,
      isWide: true,
      value: ({ cost }) => cost,
      format: (cost) => formatDecimals(cost, 4),
      explain: 'US dollars, by the prices of the model.',
    },
  ];
  return (
    <Card size="half" title="Model calls by role" about="By the servers’ own figures.">
      <ResultTable label="Model calls by role" rows={rows} columns={columns} />
    </Card>
  );
}

/** Costs by role and by the messages that the role worked on. */
function BillsCard({ teams }: Pick<BatchData, 'teams'>) {
  const rows = teams
    .flatMap(({ name, summary }) => {
      const lines = listPrompts(summary);
      const total = sumTokens(lines);
      return [...Map.groupBy(lines, ({ role, packet_type }) => JSON.stringify([role, packet_type])).values()]
        .map((own) => ({ team: name, own, first: own[0], tokens: sumTokens(own), total }))
        .toSorted((a, b) => b.tokens - a.tokens);
    })
    .slice(0, MAX_ROWS);
  if (rows.length === 0) return null;
  const columns: Column<(typeof rows)[number]>[] = [
    { header: 'team', value: ({ team }) => toLine(team, 60) },
    { header: 'role', value: ({ first }) => toLine(first?.role ?? '', 40) },
    { header: 'at work on', value: ({ first }) => toLine(first?.packet_type ?? '', 40) },
    createCount(
      'prompt tokens',
      ({ tokens }) => tokens,
      'Tokens of this role’s prompts while it worked on packets of this type.',
    ),
    {
      header: 'share',
      isNumber: true,
      value: ({ tokens, total }) => (total > 0 ? tokens / total : null),
      format: formatPercent,
      explain: 'Share of all prompt tokens of the team.',
    },
    {
      header: 'mostly',
      isWide: true,
      isText: true,
      value: ({ own }) =>
        computeTokenShares(own)
          .slice(0, 2)
          .map(({ kind, share }) => `${TOKEN_LABELS[kind]} ${formatPercent(share)}`)
          .join(', '),
    },
  ];
  return (
    <Card
      size="half"
      title="Who made which part of the bill"
      about="By role and by the type of the packet that it was working on."
    >
      <ResultTable label="Who made which part of the bill" rows={rows} columns={columns} />
    </Card>
  );
}

function listPrompts({ token_ledger }: Summary) {
  return token_ledger?.prompt ?? [];
}

function sumTokens(lines: readonly { readonly tokens: number }[]): number {
  return lines.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Names that any team has, the most frequent first. */
function listFrequentNames(
  teams: BatchData['teams'],
  read: (summary: Summary) => Readonly<Record<string, number | { readonly count: number }>>,
): string[] {
  const sums = new Map<string, number>();
  for (const { summary } of teams)
    for (const [name, value] of Object.entries(read(summary)))
      sums.set(name, (sums.get(name) ?? 0) + (typeof value === 'number' ? value : value.count));
  return [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
}
