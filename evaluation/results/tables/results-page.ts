import type { FinishedBatch } from '../../batch/finished-batch.ts';
import type { TeamFacts } from '../../batch/teams/team-facts.ts';
import {
  againstBaseline,
  type Compared,
  type PairedTeams,
  pairedTeams,
} from '../../report/gaia/paired-teams.ts';
import { type MeasuredPart, withoutFolders } from '../../terminal/docs-page.ts';
import { markdownTable } from '../../terminal/markdown-table.ts';
import { count, decimals, oneLine, percent } from '../../terminal/table.ts';
import { BASELINE } from '../baseline.ts';
import type { Figures, Taken } from '../figures.ts';
import type { TeamSummary } from '../summary.ts';
import { intervalText } from './batch-table.ts';
import { detectableText } from './detectable-text.ts';

interface ResultsFacts {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary & TeamFacts>>;
}

/** The measured part of `docs/results/gaia.md`: what a batch came to. */
export function gaiaResultsPart({ batch, summaries }: ResultsFacts): MeasuredPart {
  const teams = Object.entries(summaries);
  const { questions, source } = batch.head;
  const paired = pairedTeams(batch);
  const isTables = batch.questions.some(({ scorer }) => scorer === 'wtq');
  const engines = new Set(teams.map(([, { engine, model }]) => [engine, model].filter(Boolean).join(' ')));
  return {
    facts:
      `engine ${[...engines].join(', ')}; ${count(questions.length)} questions of \`${oneLine(sourceText(source), 100)}\`, ` +
      `first attempts, ${cachedText(teams)}`,
    limits: [isTables ? TABLES_LIMIT : SAMPLES_LIMIT, ...LIMITS],
    body: `## Right answers

By ${isTables ? 'the rules of the official evaluator of WikiTableQuestions' : "GAIA's official scorer"}, over all questions, whatever became of them: what failed is wrong. Wilson intervals.

${scoreTable(paired, teams)}

The difference is to \`${BASELINE}\`, in percentage points, on the same questions, with Newcombe's interval for pairs; it is called where the
exact McNemar test, corrected for the number of all pairs of teams (Holm), and the interval agree. \`detects\` is the smallest difference that as
many such questions show in four of five runs; a smaller one mostly gets no verdict.
${itselfPart(paired)}${calibrationPart(teams)}
## What they took

In total, and for each right answer: the sum over all answers, wrong ones included, divided by the right ones.

${takenTable(teams)}

## By level

${groupTable(teams, ({ levels }) => levels)}

## By kind of question

${groupTable(teams, ({ categories }) => categories)}`,
  };
}

const SAMPLES_LIMIT = 'The questions were written for this project: the table says nothing about GAIA.';
const TABLES_LIMIT =
  'The questions are about single tables of Wikipedia, each of which fits into a prompt: no team has to look for anything.';
const LIMITS = [
  'The engine `extractive` is a small semantic parser and a reader of passages, not a language model: what architectures do for it says ' +
    'nothing of what they do for a model.',
  'With it, roles differ in what they are told and in what they draw; a critic reads again, and nobody reasons. `pipeline` reads every ' +
    'attachment as a text, and always answers.',
  'Times are those of a machine that others may use at the same time. Bytes are exact.',
];

/** Coverage, risk and calibration of teams whose engine says how sure it is; empty without any. */
function calibrationPart(teams: Rows): string {
  const rows = teams.flatMap(([name, { calibration }]) => {
    if (calibration === undefined) return [];
    const { coverage, accuracy_of_given, accuracy_at_half, expected_calibration_error } = calibration;
    return [
      [name, ...[coverage, accuracy_of_given, accuracy_at_half, expected_calibration_error].map(percent)],
    ];
  });
  if (rows.length === 0) return '';
  return `
## How sure they may be

Answered questions; right answers among them; right answers among the surest, as many as half of all questions are; and the mean distance of an
answer's chance from how often such answers are right (expected calibration error).

${markdownTable([['team', 'coverage', 'right of given', 'right of the surer half', 'calibration error'], ...rows])}
`;
}

function sourceText(source: string | null | undefined): string {
  if (source === null || source === undefined) return 'a scoring API';
  return withoutFolders(source);
}

function cachedText(teams: Rows): string {
  const cached = teams.reduce((sum, [, figures]) => sum + figures.cached, 0);
  return cached === 0 ? 'nothing from a cache' : `${count(cached)} answers from a cache, which took nothing`;
}

type Rows = readonly (readonly [string, TeamSummary & TeamFacts])[];

/** The null test: two attempts of one team differ by what it drew alone. Empty where no question was asked again. */
function itselfPart({ itself }: PairedTeams): string {
  if (itself.size === 0) return '';
  const rows = [...itself].map(([team, { counts, judged }]) => [
    team,
    count(judged.questions),
    count(counts.onlyBaseline),
    count(counts.onlyOther),
    ...judgedCells({ judged }),
  ]);
  return `
## The same team twice

Second attempts set against first ones, each team by itself: what is called a difference here, chance makes.

${markdownTable([['team', 'questions', 'right the first time only', 'right the second time only', ...JUDGED_HEAD], ...rows])}
`;
}

const JUDGED_HEAD = ['difference (95 % interval)', 'detects', 'verdict'];

function judgedCells({ judged }: Pick<Compared, 'judged'>): string[] {
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${(Math.abs(value) * 100).toFixed(1)}`;
  const { difference, low, high, verdict } = judged;
  return [`${signed(difference)} (${signed(low)} to ${signed(high)})`, detectableText(judged), verdict];
}

function scoreTable(paired: PairedTeams, teams: Rows): string {
  const compared = againstBaseline(paired);
  const rows = teams.map(([name, summary]) => {
    const pair = compared.get(name);
    return [
      name === BASELINE ? `${name} (baseline)` : name,
      `${count(summary.correct)} of ${count(summary.scored)}`,
      scoreText(summary),
      count(summary.correct_lenient),
      ...(pair === undefined ? JUDGED_HEAD.map(() => '') : judgedCells(pair)),
    ];
  });
  return markdownTable([['team', 'right', 'accuracy (95 % interval)', 'lenient', ...JUDGED_HEAD], ...rows]);
}

function scoreText({ accuracy, low, high }: Figures): string {
  return low === null || high === null ? '–' : `${percent(accuracy)} (${intervalText({ low, high })})`;
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
