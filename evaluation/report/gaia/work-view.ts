import type { TokenLine } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { KNOWN_GAPS } from '../../attempts/attempt.ts';
import type { TeamSummary } from '../../results/summary.ts';
import { computeTokenShares, TOKEN_LABELS } from '../../results/token-shares.ts';
import { count, formatDecimals, formatPercent, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';

/** A team by its name, with its figures; in the order in which they were asked. */
export type NamedSummary = readonly [name: string, summary: TeamSummary];

/** A table of the teams' work, with teams as columns or roles as rows. */
interface WorkView {
  readonly heading: string;
  readonly table: TableView;
  readonly note: string;
}

/** Rows of one table: names of tools and roles come from the teams, and a team may make them up. */
const MAX_ROWS = 60;

const GAPS: Readonly<Record<(typeof KNOWN_GAPS)[number], string>> = {
  proprietary_api: 'kind: needs a key',
  web_archive: 'kind: web archive',
  image_only: 'kind: image or video',
  multi_hop: 'kind: many steps, none checked',
  other: 'kind: other',
};

export function buildWorkViews(teams: readonly NamedSummary[]): WorkView[] {
  return [
    buildFailuresView(teams),
    buildToolsView(teams),
    buildPaceView(teams),
    buildRolesView(teams),
    buildPromptsView(teams),
    buildBillsView(teams),
  ].filter(({ table }) => table.rows.length > 0);
}

function buildFailuresView(teams: readonly NamedSummary[]): WorkView {
  const firsts: [string, (summary: NamedSummary[1]) => number][] = [
    [
      teams.some(([, { scored, questions }]) => scored < questions)
        ? 'answered, but wrong or not scored'
        : 'answered, but wrong',
      ({ answered, correct, accuracy }) => (accuracy === null ? 0 : answered - correct),
    ],
    ['failed', ({ failed }) => failed],
    ['out of time', ({ timeout }) => timeout],
    ['not asked', ({ not_asked }) => not_asked],
    ...listFrequentNames(teams, ({ failures: { by_role } }) => by_role).map(
      (role): [string, (summary: NamedSummary[1]) => number] => [
        `role: ${role}`,
        ({ failures: { by_role } }) => by_role[role] ?? 0,
      ],
    ),
    ...KNOWN_GAPS.map((gap): [string, (summary: NamedSummary[1]) => number] => [
      GAPS[gap],
      ({ failures: { by_gap } }) => by_gap[gap] ?? 0,
    ]),
  ];
  return {
    heading: 'What went wrong',
    table: buildTeamTable(
      teams,
      firsts.map(([label, of]) => [label, (summary) => formatQuietZero(of(summary))]),
    ),
    note: 'The first four rows are of first attempts, those below of all. role: where the team says which of its roles gave up. kind: every wrong or failed attempt under the first known weakness of such teams that fits it, by rule of thumb.',
  };
}

function buildToolsView(teams: readonly NamedSummary[]): WorkView {
  const used = ({ metrics }: NamedSummary[1]) => metrics.tool_usage;
  return {
    heading: 'Tools that were asked',
    table: buildTeamTable(
      teams,
      listFrequentNames(teams, used).map((tool) => [
        tool,
        (summary) => {
          const { count: times, failed } = used(summary)[tool] ?? { count: 0, failed: 0 };
          return failed === 0 ? formatQuietZero(times) : `${count(times)} (${count(failed)} failed)`;
        },
      ]),
    ),
    note: 'Calls of all attempts that were not answered from the cache. A call that failed was told so and went on: no key, no network, a file that cannot be read.',
  };
}

function buildPaceView(teams: readonly NamedSummary[]): WorkView {
  const rows: [string, (summary: NamedSummary[1]) => string][] = [
    ['attempts', ({ metrics }) => count(metrics.questions_processed)],
    ['errors', ({ metrics }) => formatPercent(metrics.error_rate)],
    ['from the cache', ({ metrics }) => formatPercent(metrics.cache_hit_rate)],
    ['model calls per attempt', ({ metrics }) => formatDecimals(metrics.model_calls_per_question, 1)],
    ['seconds per attempt', ({ metrics }) => formatDecimals(metrics.seconds_per_question, 2)],
    ['seconds per cached answer', ({ metrics }) => formatDecimals(metrics.seconds_per_cached, 3)],
  ];
  return {
    heading: 'How each team worked',
    table: buildTeamTable(teams, rows),
    note: 'Of all attempts, repeats included.',
  };
}

function buildRolesView(teams: readonly NamedSummary[]): WorkView {
  const rows = teams.flatMap(([name, summary]) =>
    Object.entries(summary.roles).map(([role, sum]) => [
      name,
      toOneLine(role, 60),
      count(sum.calls),
      sum.prompt_tokens === null ? '–' : count(sum.prompt_tokens),
      sum.completion_tokens === null ? '–' : count(sum.completion_tokens),
      formatDecimals(sum.cost, 4),
    ]),
  );
  return {
    heading: 'Model calls by role',
    table: createTableView(
      ['team', 'role and model', '#calls', '#tokens read', '#tokens written', '#cost $'],
      rows.slice(0, MAX_ROWS),
    ),
    note: 'By the servers’ own figures.',
  };
}

/** Builds the table of the parts of each team's prompts. */
function buildPromptsView(teams: readonly NamedSummary[]): WorkView {
  const linesOf = ({ token_ledger }: NamedSummary[1]) => token_ledger?.prompt ?? [];
  const all = teams.flatMap(([, summary]) => linesOf(summary));
  const share = (summary: NamedSummary[1], kind: TokenLine['kind']) => {
    const own = computeTokenShares(linesOf(summary)).find((one) => one.kind === kind);
    if (own === undefined) return NOTHING;
    return `${count(own.tokens)} (${formatPercent(own.share)}${own.again > 0 ? `; ${formatPercent(own.again / own.tokens)} of it again` : ''})`;
  };
  return {
    heading: 'Where the prompt tokens went',
    table: buildTeamTable(
      teams,
      computeTokenShares(all).map(({ kind }) => [TOKEN_LABELS[kind], (summary) => share(summary, kind)]),
    ),
    note: `Each token of each prompt is on one line; they sum to the servers’ own figures. Again: read before in the same question. ${ESTIMATE}`,
  };
}

const ESTIMATE =
  'Models whose tokens are not public are counted by o200k_base; what their server counts otherwise is the last line.';

/** Builds the table of costs by role and by the messages that the role worked on. */
function buildBillsView(teams: readonly NamedSummary[]): WorkView {
  const rows = teams.flatMap(([name, { token_ledger }]) => {
    const lines = token_ledger?.prompt ?? [];
    const total = lines.reduce((sum, { tokens }) => sum + tokens, 0);
    return [...Map.groupBy(lines, ({ role, packet_type }) => JSON.stringify([role, packet_type]))]
      .map(([, own]) => ({ own, tokens: own.reduce((sum, { tokens }) => sum + tokens, 0) }))
      .toSorted((a, b) => b.tokens - a.tokens)
      .map(({ own, tokens }) => [
        name,
        toOneLine(own[0]?.role ?? '', 40),
        toOneLine(own[0]?.packet_type ?? '', 40),
        count(tokens),
        total > 0 ? formatPercent(tokens / total) : NOTHING,
        computeTokenShares(own)
          .slice(0, 2)
          .map(({ kind, share }) => `${TOKEN_LABELS[kind]} ${formatPercent(share)}`)
          .join(', '),
      ]);
  });
  return {
    heading: 'Who made which part of the bill',
    table: createTableView(
      ['team', 'role', 'at work on', '#prompt tokens', '#share', 'mostly'],
      rows.slice(0, MAX_ROWS),
    ),
    note: 'By role and by the type of the packet that it was working on.',
  };
}

function buildTeamTable(
  teams: readonly NamedSummary[],
  rows: readonly (readonly [string, (summary: NamedSummary[1]) => string])[],
): TableView {
  return createTableView(
    ['', ...teams.map(([name]) => `#${name}`)],
    rows
      .map(([label, of]) => [toOneLine(label, 60), ...teams.map(([, summary]) => of(summary))])
      // Rows without a value are left out.
      .filter(([, ...cells]) => cells.some((cell) => cell !== NOTHING))
      .slice(0, MAX_ROWS),
  );
}

const NOTHING = '–';
const formatQuietZero = (value: number) => (value === 0 ? NOTHING : count(value));

/** Names that any team has, the most frequent first. */
function listFrequentNames(
  teams: readonly NamedSummary[],
  of: (summary: NamedSummary[1]) => Readonly<Record<string, number | { readonly count: number }>>,
): string[] {
  const sums = new Map<string, number>();
  for (const [, summary] of teams)
    for (const [name, value] of Object.entries(of(summary)))
      sums.set(name, (sums.get(name) ?? 0) + (typeof value === 'number' ? value : value.count));
  return [...sums].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
}
