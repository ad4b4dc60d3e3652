import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
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
import { formatPercent } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { type RunMemory, runBench, useRunFolder } from './bench-runs.ts';
import { createPublisher } from './publish.ts';

const DATA = path.join(codeFolder, '..', 'shared', 'data');

const modelTable = defineTable({
  options: z.object({
    model: option('<file>', 'ask the model in this GGUF file (default: SmolLM2-135M)', text.optional()),
    texts: option('<n>', 'ask this many questions about texts', wholeNumber.default(6)),
    tables: option('<n>', 'ask this many questions about tables', wholeNumber.default(3)),
    time: option('<seconds>', 'limit the time of one question', seconds.default(40)),
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

const attemptSchema = z.object({
  task_id: z.string(),
  team: z.string(),
  status: z.string(),
  answer: z.string().nullable(),
  correct: z.boolean().nullable(),
  f1: z.number().nullable(),
  token_sum: z.number(),
  elapsed_ms: z.number(),
});
type Attempt = z.infer<typeof attemptSchema>;

/** One row: a team with an engine, at one kind of questions. */
interface Row {
  readonly questions: string;
  readonly engine: string;
  readonly team: string;
  readonly attempts: readonly Attempt[];
  /** The answers of the team that it is compared with: the same model alone. */
  readonly alone: readonly Attempt[] | undefined;
}

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
  { key: 'questions', header: 'questions', value: ({ questions }) => questions },
  { key: 'engine', header: 'engine', value: ({ engine }) => engine },
  { key: 'team', header: 'team', value: ({ team }) => team },
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
    value: ({ attempts }) => computeMedian(attempts.map(({ elapsed_ms: ms }) => ms / 1000)),
    digits: 1,
  },
];

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
      ['embedded', []],
      ['model', llama],
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

const ENGINES = ['embedded', 'model'] as const;
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
  const rows: Row[] = [];
  for (const { questions, args } of writeSamples(folder, options)) {
    const batch = (name: string, teams: string, engine: readonly string[]) =>
      askTeams(path.join(folder, `${questions}-${name}`), [...args, '--team', teams, ...engine], options);
    const embedded = await batch('embedded', 'single,pipeline', ['--engine', 'extractive']);
    const asked = await batch('model', 'all', llama);
    const again = await batch('again', 'single', llama);
    const alone = asked.filter(({ team }) => team === 'single');
    const add = (engine: string, attempts: readonly Attempt[], suffix = '') => {
      for (const team of new Set(attempts.map((attempt) => attempt.team)))
        rows.push({
          questions,
          engine,
          team: team + suffix,
          attempts: attempts.filter((attempt) => attempt.team === team),
          alone: engine === 'model' && (team !== 'single' || suffix !== '') ? alone : undefined,
        });
    };
    add('embedded', embedded);
    add('model', asked);
    add('model', again, ', again');
  }
  const name = path.basename(model);
  await publish({
    report: { model: name, rows, starts: measured },
    text: `${formatColumns(COLUMNS, rows)}\n\n${formatColumns(START_COLUMNS, starts)}`,
    part: {
      facts: `${name}, at most 256 tokens a reply and ${options.time} s a question, temperature 0; ${options.texts} questions about texts, ${options.tables} about tables`,
      body: `${formatColumnsMarkdown(COLUMNS, rows)}\n\n${START_NOTE}\n\n${formatColumnsMarkdown(START_COLUMNS, starts)}`,
      limits: [
        'The samples are small, and the intervals wide: `--texts 400 --tables 200` takes a night, and narrows them.',
        'Right is what the scorer of each benchmark accepts: the answer and nothing else. A small model answers in sentences; F1, the words that answer and truth share (SQuAD), shows how near they come.',
        'A model of 135 million parameters is the smallest that answers at all. Its table says how teams treat a weak model, not what a good one makes of them.',
        '`single, again` is the null test: the same words as before are asked of the same model with the same seed, and every difference to `single` would be one of this measurement.',
      ],
    },
  });
}

/** Writes the questions of each kind: every so many lines of the development data, among those that are short. */
function writeSamples(folder: string, { texts, tables }: ModelOptions) {
  const pick = (lines: readonly string[], count: number) =>
    Array.from({ length: count }, (_, index) => lines[Math.floor((index * lines.length) / count)] ?? '');
  const write = (name: string, lines: readonly string[]) => {
    const file = path.join(folder, name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const qa = readFileSync(path.join(DATA, 'qa', 'dev.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const wtq = gunzipSync(readFileSync(path.join(DATA, 'wtq', 'train.jsonl.gz')))
    .toString('utf8')
    .trim()
    .split('\n');
  const short = qa.filter(
    (line) => line.includes('"level": "paragraph"') || line.includes('"level":"paragraph"'),
  );
  return [
    { questions: 'texts', args: ['--questions', write('texts.jsonl', pick(short, texts))] },
    {
      questions: 'tables',
      args: [
        ...['--format', 'wtq', '--questions', write('tables.jsonl', pick(wtq, tables))],
        ...['--tables', path.join(DATA, 'wtq', 'tables.jsonl.gz')],
      ],
    },
  ];
}

/** Asks teams the questions, or goes on where an earlier call was cut off; returns the finished attempts. */
async function askTeams(stem: string, args: readonly string[], { time }: ModelOptions): Promise<Attempt[]> {
  const answers = `${stem}.jsonl`;
  const journal = `${answers}.journal`;
  const done = `${stem}.done`;
  const asked = JSON.stringify([args, time]);
  // A batch that goes on asks questions again whose time was over, so that a finished one is not gone on with.
  if (existsSync(done) && readFileSync(done, 'utf8') === asked) return readAttempts(journal);
  const resume = existsSync(journal) ? ['--resume'] : [];
  printError(`${path.basename(stem)}: ${args.join(' ')}`);
  await promisify(execFile)(
    process.execPath,
    [
      ...[path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'gaia', ...args, '--out', answers, '--no-cache'],
      ...['--concurrency', '1', '--port-base', 'auto', '--question-time', String(time), ...resume],
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: unknown) => {
    // A batch whose questions all failed ends with a code of its own, and is a result all the same.
    if (!existsSync(journal)) throw error;
  });
  writeFileSync(done, asked);
  return readAttempts(journal);
}

function readAttempts(journal: string): Attempt[] {
  const lines = readFileSync(journal, 'utf8').split('\n');
  return lines.flatMap((line) => attemptSchema.safeParse(tryParseJson(line)).data ?? []);
}
