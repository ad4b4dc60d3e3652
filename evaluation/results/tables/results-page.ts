import type { FinishedBatch } from '../../batch/finished-batch.ts';
import type { TeamFacts } from '../../batch/teams/team-facts.ts';
import { buildTables } from '../../compare/comparison-table.ts';
import { compareTeams } from '../../compare/teams/compare-teams.ts';
import { formatColumnsMarkdown } from '../../terminal/columns.ts';
import type { MeasuredPart } from '../../terminal/docs-page.ts';
import { formatMarkdownTable } from '../../terminal/markdown-table.ts';
import { count, formatDecimals, formatPercent, toOneLine } from '../../terminal/table.ts';
import { type Figures, findKnownUse } from '../figures.ts';
import type { TeamSummary } from '../summary.ts';
import { listUseRows, USE_COLUMNS } from './use-columns.ts';

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
  const { asked, source } = comparison.questions;
  const isTables = batch.questions.some(({ scorer }) => scorer === 'wtq');
  const engines = new Set(teams.map(([, { engine, model }]) => [engine, model].filter(Boolean).join(' ')));
  return {
    facts:
      `engine ${[...engines].join(', ')}; ${count(asked)} questions of \`${toOneLine(source ?? 'a scoring API', 100)}\`, ` +
      `first attempts, ${formatCached(teams)}`,
    limits: [isTables ? TABLES_LIMIT : SAMPLES_LIMIT, ...LIMITS],
    body: `## Right answers

Scored by ${isTables ? 'the rules of the official evaluator of WikiTableQuestions' : "GAIA's official scorer"}, over all questions; a question that failed counts as wrong. Intervals are Wilson's.

${scores}

The difference to \`${comparison.baseline}\` is in percentage points, on the same questions, over all attempts, with Newcombe's interval for pairs,
corrected for the number of comparisons (Holm). A team is better or worse only if its interval excludes 0. \`detects\` is the smallest difference
that this number of questions shows in four of five runs; a smaller one mostly gets no verdict.
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

Other pairs that were declared before the run, and each team's second attempts against its first ones: a difference between those is chance, or the team
learned.`;

const SAMPLES_LIMIT = 'The questions were written for this project: the table says nothing about GAIA.';
const TABLES_LIMIT =
  'Each question is about one table of Wikipedia, which fits into a prompt: no team has to search.';
const LIMITS = [
  'The engine `extractive` is a small semantic parser and a reader of passages, not a language model: how architectures change its answers says ' +
    'nothing about how they change those of a model.',
  'With it, roles differ in their prompts and in their random draws; a critic reads again, and no role reasons. `pipeline` reads every ' +
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

Coverage is the share of questions that were answered. The next two columns are the shares of right answers among those, and among the surest half
of all questions. The calibration error is the mean distance between an answer's chance and how often such answers are right.

${formatMarkdownTable([['team', 'coverage', 'right of given', 'right of the surer half', 'calibration error'], ...rows])}
`;
}

function formatCached(teams: Rows): string {
  const cached = teams.reduce((sum, [, figures]) => sum + figures.cached, 0);
  return cached === 0
    ? 'nothing from a cache'
    : `${count(cached)} answers from a cache, with what they took when they were asked, where that is known`;
}

type Rows = readonly (readonly [string, TeamSummary & TeamFacts])[];

/** The order of cost columns on a page: counts come before dollars and seconds. */
const COST_ORDER = ['team', 'taken', 'tokens', 'packets', 'bytes', 'cost', 'seconds'];

function formatCostTable(teams: Rows): string {
  const rows = teams.flatMap(([name, summary]) =>
    listUseRows(name, findKnownUse(summary)).map((row) => ({
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
