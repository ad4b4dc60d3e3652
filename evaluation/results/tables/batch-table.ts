import { type Column, formatColumns } from '../../terminal/columns.ts';
import {
  count,
  formatDecimals,
  formatPercent,
  formatPoints,
  formatShares,
  toOneLine,
  wrapText,
} from '../../terminal/table.ts';
import { nameChange } from '../cycles.ts';
import { type Figures, findKnownUse } from '../figures.ts';
import type { TeamSummary } from '../summary.ts';
import { formatTokenLines } from '../token-shares.ts';
import { listUseRows, USE_COLUMNS } from './use-columns.ts';

/** Maximum columns of a line, and of a team's name in it. */
const COLUMNS = 100;
const TEAM_COLUMNS = 14;
const ID_COLUMNS = 36;
/** GAIA's accuracy floor, which applies to Level 1 alone (C-29, REQ-077). */
const LEVEL_1_FLOOR = 0.3;

/** A row of scores: a team, or a level of its questions. */
interface ScoreRow {
  readonly team: string;
  readonly level: string;
  readonly figures: Figures;
}

const SCORE_COLUMNS: readonly Column<ScoreRow>[] = [
  { key: 'team', header: 'team', value: ({ team }) => shortenTeamName(team) },
  { key: 'level', header: 'level', value: ({ level }) => toOneLine(level, 8) },
  { key: 'questions', header: 'questions', value: ({ figures }) => figures.questions },
  { key: 'answered', header: 'answered', value: ({ figures }) => figures.answered },
  { key: 'right', header: 'right', value: ({ figures }) => hideUnscored(figures, figures.correct) },
  {
    key: 'accuracy',
    header: 'accuracy',
    value: ({ figures }) => figures.accuracy,
    format: ({ figures }) => formatPercent(figures.accuracy),
  },
  {
    key: 'interval',
    header: '95 % interval',
    value: ({ figures }) => formatShares(figures),
  },
  {
    key: 'lenient',
    header: 'lenient',
    value: ({ figures }) => hideUnscored(figures, figures.correct_lenient),
  },
];

const hideUnscored = ({ accuracy }: Figures, value: number) => (accuracy === null ? null : value);

/** Formats the results of teams for people: scores with intervals per level, then resources, in total and per right answer. */
export function formatBatchTable(teams: Readonly<Record<string, TeamSummary>>): string {
  const entries = Object.entries(teams);
  const cycles = Math.max(1, ...entries.map(([, team]) => team.cycles?.length ?? 1));
  return [
    ...(cycles > 1 ? [`The first of ${cycles} cycles (what the others changed is below):`, ''] : []),
    formatColumns(SCORE_COLUMNS, entries.flatMap(listScoreRows)),
    '',
    formatColumns(
      USE_COLUMNS,
      entries.flatMap(([name, team]) =>
        listUseRows(shortenTeamName(name), findKnownUse(team), team.cached > 0 ? ' *' : ''),
      ),
    ),
    ...entries.flatMap(([name, team]) => ['', ...listNotes(name, team)]),
    '',
  ].join('\n');
}

function listScoreRows([team, summary]: [string, TeamSummary]): ScoreRow[] {
  const levels = Object.entries(summary.levels);
  return [
    { team, level: 'all', figures: summary },
    // A single level would repeat the line above.
    ...(levels.length < 2 ? [] : levels.map(([level, figures]) => ({ team: '', level, figures }))),
  ];
}

/** Explains the mark of figures with answers from the cache. */
function formatCachedNotes(team: TeamSummary): string[] {
  const from = `  * ${count(team.cached)} of ${count(team.answered)} answers are from the cache`;
  if (!findKnownUse(team).hasCached) return [`${from}; what they took then is not known and left out`];
  const known = (value: number | null) => (value === null ? '–' : count(value));
  return [
    `${from}; their share is what they took when they were asked`,
    `    this run itself took ${known(team.tokens)} tokens, ${formatDecimals(team.cost, 4)} $, ${known(team.packets)} packets and ${formatDecimals(team.seconds, 2)} s`,
  ];
}

/** Returns notes on facts that the tables leave out. */
function listNotes(name: string, team: TeamSummary): string[] {
  const { metrics, failures, levels } = team;
  const lines: string[] = [];
  const tools = Object.entries(metrics.tool_usage).map(([tool, { count: times, failed }]) =>
    failed === 0 ? `${tool} ${times}` : `${tool} ${times} (${failed} failed)`,
  );
  lines.push(
    `${shortenTeamName(name)}: ${count(metrics.questions_processed)} processed, ${formatPercent(metrics.error_rate)} errors, ` +
      `${formatPercent(metrics.cache_hit_rate)} from the cache`,
    // Cached answers took nothing in this run: the table above adds what they took when they were asked.
    `  per question${team.cached > 0 ? ' asked' : ''} ${formatDecimals(metrics.model_calls_per_question, 1)} model calls, ${formatDecimals(metrics.seconds_per_question, 2)} s`,
  );
  if (team.cached > 0) lines.push(...formatCachedNotes(team));
  if (tools.length > 0) lines.push(`  tools: ${tools.join(', ')}`);
  const spent = team.token_ledger === undefined ? [] : formatTokenLines(team.token_ledger);
  lines.push(
    ...spent.flatMap((line) =>
      wrapText(line)
        .split('\n')
        .map((part) => `  ${part}`),
    ),
  );
  const roles = Object.entries(failures.by_role).map(([role, times]) => `${role} ${times}`);
  if (roles.length > 0) lines.push(`  failed role: ${roles.join(', ')}`);
  const gaps = Object.entries(failures.by_gap).map(([gap, times]) => `${gap} ${times}`);
  if (gaps.length > 0) lines.push(`  wrong or failed by kind: ${gaps.join(', ')}`);
  if (failures.first !== null)
    lines.push(`  failed first: ${failures.first.task_id.slice(0, ID_COLUMNS)}: ${failures.first.reason}`);
  const level1 = levels['1']?.accuracy ?? null;
  if (level1 !== null && metrics.questions_processed > 0)
    lines.push(
      `  level 1: ${formatPercent(level1)}, ${level1 >= LEVEL_1_FLOOR ? 'at or above' : 'below'} the floor of 30 %`,
    );
  if (team.not_asked > 0) lines.push(`  ${count(team.not_asked)} not asked, which count as wrong`);
  lines.push(...formatCycles(team));
  return lines.map((line) => cutIndentedLine(line));
}

export function formatCycles({ cycles, pass_at, pass_hat }: TeamSummary): string[] {
  if (cycles === undefined) return [];
  const passes = (by: Readonly<Record<string, number>>) =>
    Object.entries(by)
      .map(([k, value]) => `k=${k} ${formatPercent(value)}`)
      .join(', ');
  return [
    ...cycles.flatMap(({ cycle, accuracy, delta, newly_right, newly_wrong, categories }) => [
      `  cycle ${cycle}: ${formatPercent(accuracy)}${delta === null ? '' : `, ${formatPoints(delta)} points: ${newly_right} newly right, ${newly_wrong} newly wrong`}`,
      ...categories.map(
        ({ category, correct_before, correct, questions, ...change }) =>
          `    ${category}: ${nameChange(change)}, ${correct_before} → ${correct} of ${questions} (${formatPoints(change.low)} to ${formatPoints(change.high)} points)`,
      ),
    ]),
    ...(pass_at === undefined || pass_hat === undefined
      ? []
      : [`  pass@k ${passes(pass_at)}`, `  pass^k ${passes(pass_hat)}`]),
  ].map(cutIndentedLine);
}

const shortenTeamName = (name: string) => toOneLine(name, TEAM_COLUMNS);

function cutIndentedLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return indent + toOneLine(line, COLUMNS - indent.length);
}
