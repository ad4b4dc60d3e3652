import type { Interval } from '../../statistics/inference/confidence.ts';
import {
  count,
  formatDecimals,
  formatPercent,
  formatSignedPercent,
  formatTable,
  toOneLine,
  wrapText,
} from '../../terminal/table.ts';
import { nameChange } from '../cycles.ts';
import { type Figures, findKnownUse, type ResourceUse } from '../figures.ts';
import type { TeamSummary } from '../summary.ts';
import { formatTokenLines } from '../token-shares.ts';

/** Maximum columns of a line, and of a team's name in it. */
const COLUMNS = 100;
const TEAM_COLUMNS = 14;
const ID_COLUMNS = 36;
/** GAIA's accuracy floor, which applies to Level 1 alone (C-29, REQ-077). */
const LEVEL_1_FLOOR = 0.3;

/** Formats the results of teams for people: scores with intervals per level, then resources, in total and per right answer. */
export function formatBatchTable(teams: Readonly<Record<string, TeamSummary>>): string {
  const entries = Object.entries(teams);
  return [
    formatTable([
      ['team', 'level', 'questions', 'answered', 'right', 'accuracy', '95 % interval', 'lenient'],
      ...entries.flatMap(([name, team]) => formatScoreRows(name, team)),
    ]),
    '',
    formatTable([
      ['team', 'taken', 'tokens', 'cost $', 'packets', 'bytes', 'seconds'],
      ...entries.flatMap(([name, team]) => {
        const { total, perRight } = findKnownUse(team);
        const mark = team.cached > 0 ? ' *' : '';
        return [
          [shortenTeamName(name), `in total${mark}`, ...formatCostCells(total, 0)],
          ['', `per right answer${mark}`, ...formatCostCells(perRight, 1)],
        ];
      }),
    ]),
    ...entries.flatMap(([name, team]) => ['', ...listNotes(name, team)]),
    '',
  ].join('\n');
}

/** Explains the mark of figures with answers from the cache. */
function formatCachedNotes(team: TeamSummary): string[] {
  const from = `  * ${count(team.cached)} of ${count(team.answered)} answers are from the cache`;
  if (!findKnownUse(team).hasCached) return [`${from}; what they took then is not known and left out`];
  const [tokens = '', cost = '', packets = '', , seconds = ''] = formatCostCells(team, 0);
  return [
    `${from}; their share is what they took when they were asked`,
    `    this run itself took ${tokens} tokens, ${cost} $, ${packets} packets and ${seconds} s`,
  ];
}

function formatScoreRows(name: string, team: TeamSummary): string[][] {
  const levels = Object.entries(team.levels);
  return [
    [shortenTeamName(name), 'all', ...formatScoreCells(team)],
    // A single level would repeat the line above.
    ...(levels.length < 2
      ? []
      : levels.map(([level, figures]) => ['', toOneLine(level, 8), ...formatScoreCells(figures)])),
  ];
}

function formatScoreCells({
  questions,
  answered,
  correct,
  accuracy,
  low,
  high,
  correct_lenient,
}: Figures): string[] {
  const interval = formatInterval(low === null || high === null ? null : { low, high });
  return [
    count(questions),
    count(answered),
    accuracy === null ? '–' : count(correct),
    formatPercent(accuracy),
    interval,
    accuracy === null ? '–' : count(correct_lenient),
  ];
}

export function formatInterval(bounds: Interval | null): string {
  return bounds === null ? '–' : `${(bounds.low * 100).toFixed(1)}–${formatPercent(bounds.high)}`;
}

function formatCostCells({ tokens, cost, packets, bytes, seconds }: ResourceUse, digits: number): string[] {
  const number = (value: number | null) =>
    value === null ? '–' : digits === 0 || value >= 100 ? count(value) : formatDecimals(value, digits);
  return [
    number(tokens),
    formatDecimals(cost, 4),
    number(packets),
    number(bytes),
    formatDecimals(seconds, 2),
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
    `  per question ${formatDecimals(metrics.model_calls_per_question, 1)} model calls, ${formatDecimals(metrics.seconds_per_question, 2)} s`,
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

export function formatCycles({ cycles, pass_at, pass_hat, pass_hat_talked: talked }: TeamSummary): string[] {
  if (cycles === undefined) return [];
  const passes = (by: Readonly<Record<string, number>>) =>
    Object.entries(by)
      .map(([k, value]) => `k=${k} ${formatPercent(value)}`)
      .join(', ');
  return [
    ...cycles.flatMap(({ cycle, accuracy, delta, newly_right, newly_wrong, categories }) => [
      `  cycle ${cycle}: ${formatPercent(accuracy)}${delta === null ? '' : `, ${formatSignedPercent(delta)}: ${newly_right} newly right, ${newly_wrong} newly wrong`}`,
      ...categories.map(
        ({ category, correct_before, correct, questions, ...change }) =>
          `    ${nameChange(change)} ${category}: ${correct_before} → ${correct} of ${questions} (${formatSignedPercent(change.low)} to ${formatSignedPercent(change.high)})`,
      ),
    ]),
    ...(pass_at === undefined || pass_hat === undefined
      ? []
      : [`  pass@k ${passes(pass_at)}`, `  pass^k ${passes(pass_hat)}`]),
    ...(talked === undefined || talked.questions === 0
      ? []
      : [`  pass^k where agents talked (${count(talked.questions)}) ${passes(talked.by)}`]),
  ].map(cutIndentedLine);
}

const shortenTeamName = (name: string) => toOneLine(name, TEAM_COLUMNS);

function cutIndentedLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return indent + toOneLine(line, COLUMNS - indent.length);
}
