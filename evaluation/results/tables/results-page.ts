import type { FinishedBatch } from '../../batch/finished-batch.ts';
import type { TeamFacts } from '../../batch/teams/team-facts.ts';
import { buildTables } from '../../compare/comparison-table.ts';
import { compareTeams } from '../../compare/teams/compare-teams.ts';
import { formatColumnsMarkdown } from '../../terminal/columns.ts';
import { type MeasuredPart, stripFolders } from '../../terminal/docs-page.ts';
import { formatMarkdownTable } from '../../terminal/markdown-table.ts';
import { count, formatDecimals, formatPercent, toOneLine } from '../../terminal/table.ts';
import type { Figures } from '../figures.ts';
import type { TeamSummary } from '../summary.ts';
import { listUseRows } from './batch-table.ts';
import { USE_COLUMNS } from './use-columns.ts';

interface ResultsFacts {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary & TeamFacts>>;
}

/** Builds the measured part of `docs/results/gaia.md` from a batch. */
export function buildGaiaPart({ batch, summaries }: ResultsFacts): MeasuredPart {
  const comparison = compareTeams({ batch, summaries });
  const [scores, further] = buildTables(comparison).sections.map(({ tables }) =>
    tables.map((own) => own(formatColumnsMarkdown)).join('\n\n'),
  );
  const teams = Object.entries(summaries);
  const { questions, source } = batch.head;
  const isTables = batch.questions.some(({ scorer }) => scorer === 'wtq');
  const engines = new Set(teams.map(([, { engine, model }]) => [engine, model].filter(Boolean).join(' ')));
  return {
    facts:
      `engine ${[...engines].join(', ')}; ${count(questions.length)} questions of \`${toOneLine(formatSource(source), 100)}\`, ` +
      `first attempts, ${formatCached(teams)}`,
    limits: [isTables ? TABLES_LIMIT : SAMPLES_LIMIT, ...LIMITS],
    body: `## Right answers

By ${isTables ? 'the rules of the official evaluator of WikiTableQuestions' : "GAIA's official scorer"}, over all questions, whatever became of them: what failed is wrong. Wilson intervals.

${scores}

The difference is to \`${comparison.baseline}\`, in percentage points, on the same questions, over all attempts, with Newcombe's interval for pairs,
corrected for the number of comparisons (Holm); it is called where the interval does not reach 0. \`detects\` is the smallest difference that as
many such questions show in four of five runs; a smaller one mostly gets no verdict.
${further === undefined ? '' : `\n${FURTHER}\n\n${further}\n`}${formatCalibration(teams)}
## What they took

In total, and for each right answer: the sum over all answers, wrong ones included, divided by the right ones.

${formatCostTable(teams)}

## By level

${groupTable(teams, ({ levels }) => levels)}

## By kind of question

${groupTable(teams, ({ categories }) => categories)}`,
  };
}

const FURTHER = `## Further pairs

Other pairs that were declared before the run, and second attempts set against first ones, each team by itself: what is called a difference there, chance
makes, or the team learned.`;

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

/** Formats coverage, risk and calibration of teams whose engine reports confidences; empty without any. */
function formatCalibration(teams: Rows): string {
  const rows = teams.flatMap(([name, { calibration }]) => {
    if (calibration === undefined) return [];
    const { coverage, accuracy_of_given, accuracy_at_half, expected_calibration_error } = calibration;
    return [
      [
        name,
        ...[coverage, accuracy_of_given, accuracy_at_half, expected_calibration_error].map((share) =>
          formatPercent(share),
        ),
      ],
    ];
  });
  if (rows.length === 0) return '';
  return `
## How sure they may be

Answered questions; right answers among them; right answers among the surest, as many as half of all questions are; and the mean distance of an
answer's chance from how often such answers are right (expected calibration error).

${formatMarkdownTable([['team', 'coverage', 'right of given', 'right of the surer half', 'calibration error'], ...rows])}
`;
}

function formatSource(source: string | null | undefined): string {
  if (source === null || source === undefined) return 'a scoring API';
  return stripFolders(source);
}

function formatCached(teams: Rows): string {
  const cached = teams.reduce((sum, [, figures]) => sum + figures.cached, 0);
  return cached === 0
    ? 'nothing from a cache'
    : `${count(cached)} answers from a cache, with what they took when they were asked, where that is known`;
}

type Rows = readonly (readonly [string, TeamSummary & TeamFacts])[];

/** Columns of costs on a page, whose tables begin with what is counted. */
const COST_ORDER = ['team', 'taken', 'tokens', 'packets', 'bytes', 'cost', 'seconds'];

function formatCostTable(teams: Rows): string {
  const rows = teams.flatMap(([name, summary]) =>
    listUseRows(name, summary).map((row) => ({
      ...row,
      questionsPerS: row.isTotal ? formatDecimals(summary.questions_per_s, 1) : '',
    })),
  );
  const used = COST_ORDER.flatMap((key) => USE_COLUMNS.find((column) => column.key === key) ?? []);
  return formatColumnsMarkdown(
    [...used, { key: 'questions_per_s', header: 'questions/s', value: (row) => row.questionsPerS }],
    rows,
  );
}

function groupTable(
  teams: Rows,
  groupsOf: (summary: TeamSummary) => Readonly<Record<string, Figures>>,
): string {
  const groups = Object.keys(teams[0] === undefined ? {} : groupsOf(teams[0][1]));
  return formatMarkdownTable([
    ['', ...teams.map(([name]) => name)],
    ...groups.map((group) => [
      toOneLine(group, 40),
      ...teams.map(([, summary]) => {
        const figures = groupsOf(summary)[group];
        return figures === undefined ? '–' : `${count(figures.correct)} of ${count(figures.scored)}`;
      }),
    ]),
  ]);
}
