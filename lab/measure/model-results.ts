import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import {
  defineTable,
  flag,
  option,
  seconds,
  text,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { comparePaired } from '@gaia-mesh/evaluation/statistics/answers/paired-answers.ts';
import { computeWilson } from '@gaia-mesh/evaluation/statistics/inference/confidence.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import { type Column, formatColumns, formatColumnsMarkdown } from '@gaia-mesh/evaluation/terminal/columns.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatDecimals, formatPercent } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { type RunMemory, runBench, useRunFolder } from './bench-runs.ts';
import { type Attempt, askSamples, readSamples } from './model-samples.ts';
import { createPublisher } from './publish.ts';

/** A model computes on all processors but one: two at once use both of two, and would wait for each other on more. */
const AT_ONCE = os.availableParallelism() === 2 ? 2 : 1;

const modelTable = defineTable({
  options: z.object({
    model: option('<file>', 'ask the model in this GGUF file (default: SmolLM2-135M)', text.optional()),
    texts: option('<n>', 'ask this many questions about texts', wholeNumber.default(6)),
    tables: option('<n>', 'ask this many questions about tables', wholeNumber.default(6)),
    time: option('<seconds>', 'limit the time of one question', seconds.default(60)),
    atOnce: option('<n>', 'ask this many questions at once', wholeNumber.default(AT_ONCE)),
    out: option('<dir>', 'keep answers in this folder, and go on from them', text.default('runs/model')),
    json: flag('print the results as one JSON value'),
    write: flag('write docs/results/model.md'),
  }),
});
type ModelOptions = z.output<typeof modelTable.options>;

/** Measures what teams are worth with a real model, beside the embedded engine; a run that was cut off goes on where it was. */
export function defineModelResults(command: Command): void {
  defineOptions(command, modelTable, run);
}

/** One row: a team with an engine, at one kind of questions. */
interface Row {
  readonly kind: Attempt['kind'];
  readonly arm: string;
  readonly team: string;
  readonly attempts: readonly Attempt[];
  /** The answers of the team that it is compared with: the same model alone. */
  readonly alone: readonly Attempt[] | undefined;
}

const EMBEDDED = 'embedded';
const MODEL = 'model';
/** The arm that asks the model alone the same again. */
const AGAIN = 'again';
const TEAMS = ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'];

const computeMean = (attempts: readonly Attempt[], value: (attempt: Attempt) => number) =>
  attempts.reduce((sum, attempt) => sum + value(attempt), 0) / attempts.length;
const isRight = ({ correct }: Attempt) => correct === true;
const countRight = (attempts: readonly Attempt[]) => attempts.filter(isRight).length;

function describeDifference({ attempts, alone }: Row): string {
  if (alone === undefined) return '';
  const questions = attempts.map((attempt) => ({
    baseline: alone.some((other) => other.task_id === attempt.task_id && isRight(other)) ? 1 : 0,
    other: isRight(attempt) ? 1 : 0,
  }));
  const { difference, low, high } = comparePaired({ questions, attempts: 1 });
  const points = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)}`;
  return `${points(difference)} (${points(low)} to ${points(high)})`;
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'questions', header: 'questions', value: ({ kind }) => kind },
  { key: 'engine', header: 'engine', value: ({ arm }) => (arm === EMBEDDED ? EMBEDDED : 'model') },
  { key: 'team', header: 'team', value: ({ arm, team }) => (arm === AGAIN ? `${team}, again` : team) },
  {
    key: 'right',
    header: 'right',
    value: ({ attempts }) => `${countRight(attempts)} of ${attempts.length}`,
  },
  {
    key: 'accuracy',
    header: 'accuracy (95 % interval)',
    value({ attempts }) {
      const { low, high } = computeWilson(countRight(attempts), attempts.length);
      return `${formatPercent(countRight(attempts) / attempts.length)} (${formatPercent(low)}–${formatPercent(high)})`;
    },
  },
  { key: 'difference', header: 'to the model alone, points', value: describeDifference },
  { key: 'f1', header: 'F1', value: ({ attempts }) => computeMean(attempts, ({ f1 }) => f1 ?? 0), digits: 2 },
  {
    key: 'unanswered',
    header: 'no answer',
    value: ({ attempts }) => attempts.filter(({ status }) => status !== 'answered').length,
  },
  {
    key: 'tokens',
    header: 'tokens a question',
    value: ({ attempts }) => computeMean(attempts, ({ token_sum: tokens }) => tokens),
  },
  {
    key: 'seconds',
    header: 'median s',
    value: ({ attempts }) =>
      computeMedian(attempts.filter(({ isTimed }) => isTimed).map(({ elapsed_ms: ms }) => ms / 1000)),
    digits: 1,
  },
];

/** One part of the texts, as the embedded engine and the model alone answer it. */
interface PartRow {
  readonly part: string;
  readonly embedded: readonly Attempt[];
  readonly model: readonly Attempt[];
}

const formatScore = (attempts: readonly Attempt[]) =>
  `${countRight(attempts)} of ${attempts.length}, F1 ${formatDecimals(
    computeMean(attempts, ({ f1 }) => f1 ?? 0),
    2,
  )}`;

const PART_COLUMNS: readonly Column<PartRow>[] = [
  { key: 'part', header: 'texts of', value: ({ part }) => part },
  { key: 'embedded', header: 'embedded engine, `single`', value: ({ embedded }) => formatScore(embedded) },
  { key: 'model', header: 'model, `single`', value: ({ model }) => formatScore(model) },
];

const PART_NOTE =
  '`single` by the parts of the development data: a paragraph (squad-p) or a part of an article (squad-d) of Wikipedia, a passage for a question to a search engine (nq), ten paragraphs of which two are needed (hotpot), twenty of which up to four are (musique), and a story (fairytale).';

function listParts(attempts: readonly Attempt[]): PartRow[] {
  const alone = attempts.filter(({ kind, team }) => kind === 'texts' && team === 'single');
  const parts = Map.groupBy(alone, ({ part }) => part);
  return [...parts].map(([part, own]) => ({
    part,
    embedded: own.filter(({ arm }) => arm === EMBEDDED),
    model: own.filter(({ arm }) => arm === MODEL),
  }));
}

/** One run of `npm run bench` with one question for the team `single`. */
interface Start {
  readonly engine: string;
  /** From the start of npm to its end, after the answer. */
  readonly wallMs: number;
  /** The most that was seen at once. */
  readonly memory: RunMemory;
}

const START_NOTE =
  'What a run costs before and besides: `npm run bench -- --team single` with a question about one sentence, with and without the model, whose process all agents share.';

/** Runs of each engine, in turns; of some hundred samples a run the largest counts. */
const STARTS = 5;
const SAMPLE_MS = 50;

async function measureStarts(model: string): Promise<Start[]> {
  const starts: Start[] = [];
  const llama = ['--engine', 'llama', '--model', model, '--engine-option', 'max_tokens=32'];
  for (let round = 0; round < STARTS; round++) {
    for (const [engine, args] of [
      [EMBEDDED, []],
      [MODEL, llama],
    ] as const) {
      printError(`start ${round + 1} of ${STARTS}, ${engine}`);
      const { wallMs, memory } = await useRunFolder((folder) => {
        const document = path.join(folder, 'heron.txt');
        writeFileSync(document, 'The heron nests by the lake in April.\n');
        const asked = ['--document', document, '--question', 'Which bird nests by the lake?'];
        return runBench(path.join(folder, 'run'), ['--team', 'single', ...asked, ...args], SAMPLE_MS);
      });
      const most = (key: keyof RunMemory) => Math.max(0, ...memory.map((sample) => sample[key]));
      starts.push({ engine, wallMs, memory: { hubMb: most('hubMb'), agentMb: most('agentMb') } });
    }
  }
  return starts;
}

const ENGINES = [EMBEDDED, MODEL];
type EngineStarts = readonly Start[];
const START_COLUMNS: readonly Column<EngineStarts>[] = [
  { key: 'engine', header: 'engine', value: ([first]) => first?.engine ?? '' },
  {
    key: 'start_s',
    header: 'one question from start to end, median s',
    value: (starts) => computeMedian(starts.map(({ wallMs }) => wallMs / 1000)),
    digits: 2,
  },
  {
    key: 'agent_mb',
    header: 'largest agent, median MB',
    value: (starts) => computeMedian(starts.map(({ memory }) => memory.agentMb)),
  },
  {
    key: 'launcher_mb',
    header: 'launcher with hub, median MB',
    value: (starts) => computeMedian(starts.map(({ memory }) => memory.hubMb)),
  },
];

async function run(options: ModelOptions): Promise<void> {
  const publish = createPublisher('docs/results/model.md', options);
  const model = resolveUserPath(
    options.model ?? path.join(findCacheFolder(), 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf'),
  );
  if (!existsSync(model))
    throw new MeshError('config', `${model} is missing: scripts/testing/fetch-model.sh fetches it`);
  const folder = resolveUserPath(options.out);
  mkdirSync(folder, { recursive: true });
  const llama = ['--engine', 'llama', '--model', model, '--engine-option', 'max_tokens=256'];
  const measured = await measureStarts(model);
  const starts = ENGINES.map((engine) => measured.filter((start) => start.engine === engine));
  const samples = readSamples(options);
  const arms = [
    { name: EMBEDDED, teams: ['single', 'pipeline'], args: ['--engine', 'extractive'] },
    { name: MODEL, teams: TEAMS, args: llama },
    { name: AGAIN, teams: ['single'], args: llama },
  ];
  const { time, atOnce } = options;
  const attempts = await askSamples(samples, { folder, arms, time, atOnce });
  const rows = samples.flatMap(({ kind }) =>
    listRows(
      attempts.filter((attempt) => attempt.kind === kind),
      arms,
      kind,
    ),
  );
  const parts = listParts(attempts);
  const name = path.basename(model);
  const counts = samples.map(({ kind, lines, all }) => `${lines.length} of ${all} questions about ${kind}`);
  await publish({
    report: { model: name, rows, parts, starts: measured },
    text: [
      formatColumns(COLUMNS, rows),
      formatColumns(PART_COLUMNS, parts),
      formatColumns(START_COLUMNS, starts),
    ].join('\n\n'),
    part: {
      facts: `${name}, at most 256 tokens a reply and ${time} s a question, temperature 0; ${counts.join(', ')}; ${atOnce} at once`,
      body: [
        formatColumnsMarkdown(COLUMNS, rows),
        PART_NOTE,
        formatColumnsMarkdown(PART_COLUMNS, parts),
        START_NOTE,
        formatColumnsMarkdown(START_COLUMNS, starts),
      ].join('\n\n'),
      limits: [
        `The samples are parts of what is to be asked, and the intervals wide. All of it would take about ${estimateHours(samples, attempts, atOnce)} h here; a larger \`--texts\` or \`--tables\` keeps the answers that \`--out\` has, since larger samples contain the smaller ones.`,
        `The seconds are those of the first ${countTimed(attempts, 'texts')} texts and ${countTimed(attempts, 'tables')} tables, which were asked one at a time; all other columns count every question.`,
        'Right is what the scorer of each benchmark accepts: the answer and nothing else. A small model answers in sentences; F1, the words that answer and truth share (SQuAD), shows how near they come.',
        'A model of 135 million parameters is the smallest that answers at all. Its table says how teams treat a weak model, not what a good one makes of them.',
        'The embedded engine was tuned on these texts, and learned from these tables. What it answers without, is on [its page](embedded.md).',
        '`single, again` is the null test: the same words as before are asked of the same model with the same seed, and every difference to `single` would be one of this measurement.',
      ],
    },
  });
}

function listRows(
  attempts: readonly Attempt[],
  arms: Parameters<typeof askSamples>[1]['arms'],
  kind: Attempt['kind'],
): Row[] {
  const select = (arm: string, team: string) =>
    attempts.filter((attempt) => attempt.arm === arm && attempt.team === team);
  const alone = select(MODEL, 'single');
  return arms.flatMap(({ name: arm, teams }) =>
    teams.map((team) => {
      const isCompared = arm === AGAIN || (arm === MODEL && team !== 'single');
      return { kind, arm, team, attempts: select(arm, team), alone: isCompared ? alone : undefined };
    }),
  );
}

const countTimed = (attempts: readonly Attempt[], kind: Attempt['kind']) =>
  new Set(attempts.filter((one) => one.isTimed && one.kind === kind).map(({ task_id: id }) => id)).size;

/** Estimates how long the whole development data would take, from the time of the questions that were asked. */
function estimateHours(
  samples: ReturnType<typeof readSamples>,
  attempts: readonly Attempt[],
  atOnce: number,
): string {
  const ms = samples.map(({ kind, lines, all }) => {
    const own = attempts.filter((attempt) => attempt.kind === kind);
    return (own.reduce((sum, attempt) => sum + attempt.elapsed_ms, 0) / lines.length) * all;
  });
  return formatDecimals(ms.reduce((sum, one) => sum + one, 0) / atOnce / 3_600_000, 1);
}
