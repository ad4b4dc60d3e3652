import os from 'node:os';
import { packageVersion } from '../../config/package-root.ts';
import { markdownTable } from '../markdown-table.ts';
import { machine } from '../perf/results-page.ts';
import { againstBaseline } from '../report/gaia/paired-teams.ts';
import { count, decimals, oneLine, percent } from '../terminal/table.ts';
import { BASELINE } from './baseline.ts';
import type { Figures, Taken } from './figures.ts';
import type { FinishedBatch } from './finished-batch.ts';
import type { TeamSummary } from './summary.ts';
import type { TeamFacts } from './team-facts.ts';

export interface ResultsFacts {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary & TeamFacts>>;
  /** As the user typed it, behind `npm run gaia -- `. */
  readonly args: readonly string[];
  readonly revision: string;
}

/** Options that say where things of this machine go, each with a value. */
const PLACES = ['--out', '--store', '--cache-file'];

/** What somebody else has to type to measure the same. */
function withoutPlaces(args: readonly string[]): string[] {
  const isPlace = (arg: string | undefined) => arg !== undefined && PLACES.includes(arg);
  return args.filter((arg, index) => !isPlace(arg) && !isPlace(args[index - 1]));
}

/** `docs/gaia-results.md`: what a batch came to, with the machine on which it was measured. */
export function gaiaResultsPage({ batch, summaries, args, revision }: ResultsFacts): string {
  const teams = Object.entries(summaries);
  const { questions } = batch.head;
  const engines = [
    ...new Set(teams.map(([, { engine, model }]) => [engine, model].filter(Boolean).join(' '))),
  ];
  return `# Results of the teams

Written by \`npm run gaia -- ${withoutPlaces(args).join(' ')}\`; do not edit.

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; engine ${engines.join(', ')}
- ${new Date().toISOString().slice(0, 10)}; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}
- ${count(questions.length)} questions of \`${oneLine(batch.head.source ?? 'a scoring API', 100)}\`, first attempts, ${cachedText(teams)}

## Right answers

By GAIA's official scorer, over all questions, whatever became of them: what failed is wrong. Wilson intervals.

${scoreTable(batch, teams)}

The difference is to \`${BASELINE}\`, in percentage points, on the same questions, with Newcombe's interval for pairs; it is called where the
exact McNemar test, corrected for the number of teams (Holm), and the interval agree.

## What they took

In total, and for each right answer: the sum over all answers, wrong ones included, divided by the right ones.

${takenTable(teams)}

## By level

${groupTable(teams, ({ levels }) => levels)}

## By kind of question

${groupTable(teams, ({ categories }) => categories)}

## What these numbers cannot tell

The questions were written for this project, by the people who wrote the rules of the embedded engine; it answers far fewer of anybody
else's, and none that take a search of the web or a thought. So this table shows that the teams and their tools work, what their
packets cost, and nothing about GAIA. Where the engine follows rules, an architecture can only show which tools it lets them use:
\`panel\` and \`overseer\` have nothing to improve. Times are those of a machine that others may use at the same time; bytes
are exact.
`;
}

function cachedText(teams: Rows): string {
  const cached = teams.reduce((sum, [, figures]) => sum + figures.cached, 0);
  return cached === 0 ? 'nothing from a cache' : `${count(cached)} answers from a cache, which took nothing`;
}

type Rows = readonly (readonly [string, TeamSummary & TeamFacts])[];

function scoreTable(batch: FinishedBatch, teams: Rows): string {
  const compared = againstBaseline(batch);
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${(Math.abs(value) * 100).toFixed(1)}`;
  const rows = teams.map(([name, summary]) => {
    const judged = compared.get(name)?.judged;
    return [
      name === BASELINE ? `${name} (baseline)` : name,
      `${count(summary.correct)} of ${count(summary.scored)}`,
      scoreText(summary),
      count(summary.correct_lenient),
      judged === undefined
        ? ''
        : `${signed(judged.difference)} (${signed(judged.low)} to ${signed(judged.high)})`,
      judged?.verdict ?? '',
    ];
  });
  return markdownTable([
    ['team', 'right', 'accuracy (95 % interval)', 'lenient', 'difference (95 % interval)', 'verdict'],
    ...rows,
  ]);
}

function scoreText({ accuracy, low, high }: Figures): string {
  return low === null || high === null
    ? '–'
    : `${percent(accuracy)} (${(low * 100).toFixed(1)}–${percent(high)})`;
}

function takenTable(teams: Rows): string {
  const cells = ({ tokens, cost, packets, bytes, seconds }: Taken, digits: number) => [
    ...[tokens, packets, bytes].map((value) =>
      value === null || (digits > 0 && value < 100) ? decimals(value, digits) : count(value),
    ),
    decimals(cost, 4),
    decimals(seconds, 2),
  ];
  const rows = teams.flatMap(([name, summary]) => [
    [name, 'in total', ...cells(summary, 0), decimals(summary.questions_per_s, 1)],
    ['', 'per right answer', ...cells(summary.per_correct, 1), ''],
  ]);
  return markdownTable([
    ['team', '', 'tokens', 'packets', 'bytes', 'cost $', 'seconds', 'questions/s'],
    ...rows,
  ]);
}

function groupTable(
  teams: Rows,
  groupsOf: (summary: TeamSummary) => Readonly<Record<string, Figures>>,
): string {
  const groups = Object.keys(teams[0] === undefined ? {} : groupsOf(teams[0][1]));
  return markdownTable([
    ['', ...teams.map(([name]) => name)],
    ...groups.map((group) => [
      oneLine(group, 40),
      ...teams.map(([, summary]) => {
        const figures = groupsOf(summary)[group];
        return figures === undefined ? '–' : `${count(figures.correct)} of ${count(figures.scored)}`;
      }),
    ]),
  ]);
}
