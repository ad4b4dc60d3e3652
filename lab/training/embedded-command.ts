import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { defineTable, flag, option, text, texts } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { count, formatDecimals, formatPercent, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { extractSentences } from '@gaia-mesh/reader/extract.ts';
import { chooseAnswer } from '@gaia-mesh/reader/reason.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import { readTableModel } from '@gaia-mesh/tools/tables/table-model.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';
import { measureHeldOut } from './held-out.ts';
import { cutChunks, readQuestions, scoreSquad } from './read-questions.ts';
import { loadWtqData } from './wtq-data.ts';

const run = promisify(execFile);

const embeddedTable = defineTable({
  options: z.object({
    wtq: option('<dir>', 'read train.jsonl.gz and tables.jsonl.gz of WikiTableQuestions here', text),
    weights: option('<files...>', 'use the weights of lab:train --split 1, 2 and 3, in order', texts),
    qa: option('<file>', 'read labelled questions about texts from this file', text),
    write: flag('write the figures to docs/results/embedded.md'),
    json: flag('print the figures as JSON'),
  }),
});

/**
 * Defines the command that measures how often the embedded engine is right, how well its chances are calibrated, and
 * how long it takes.
 */
export function defineEmbedded(command: Command): void {
  defineOptions(command, embeddedTable, measure);
}

interface ReaderFigures {
  readonly questions: number;
  readonly exact: number;
  readonly f1: number;
  readonly p95_cpu_ms: number;
}

/** Measures how often the reader is right, by part of a file of labelled questions. */
export function measureReader(file: string): Record<string, ReaderFigures> {
  const scored = readQuestions(file).map(({ part, question, document, truths }) => {
    const before = cpuMs();
    const sentences = extractSentences(question, searchPassages(question, cutChunks(document)));
    const { answer } = chooseAnswer(question, proposeTriples(question, sentences));
    return { part, ms: cpuMs() - before, ...scoreSquad(answer, truths) };
  });
  const parts = Map.groupBy(scored, ({ part }) => part);
  return Object.fromEntries([...parts].map(([part, rows]) => [part, summarizeRows(rows)]));
}

function summarizeRows(rows: readonly { exact: number; f1: number; ms: number }[]): ReaderFigures {
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const times = rows.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    questions: rows.length,
    exact: mean(({ exact }) => exact),
    f1: mean(({ f1 }) => f1),
    p95_cpu_ms: times[Math.floor(0.95 * (times.length - 1))] ?? 0,
  };
}

async function measure(options: z.output<typeof embeddedTable.options>): Promise<void> {
  const publish = createPublisher('docs/results/embedded.md', options);
  const data = loadWtqData(resolveUserPath(options.wtq));
  const report: Report = {
    tables: options.weights.map((file, at) => {
      const split = at + 1;
      const held = data.questions.filter(({ dev_of_split: of }) => of.includes(split));
      return {
        split,
        ...measureHeldOut(readTableModel(pathToFileURL(resolveUserPath(file))), held, data.table),
      };
    }),
    texts: measureReader(resolveUserPath(options.qa)),
    start: await measureFirstAnswer(),
    samples: await useRunFolder(async (folder) => ({
      as_they_ship: await measureSamples('questions.jsonl', folder),
      in_other_words: await measureSamples('other-words.jsonl', folder),
    })),
  };
  await publish({ report, text: formatReport(report), part: buildEmbeddedPart(report) });
}

interface Samples {
  readonly questions: number;
  readonly answered: number;
  readonly correct: number;
}

interface Report {
  readonly tables: readonly (ReturnType<typeof measureHeldOut> & { readonly split: number })[];
  readonly texts: Readonly<Record<string, ReaderFigures>>;
  /** Time of a new process up to its first answer. */
  readonly start: { readonly ms: number; readonly cpu_ms: number };
  readonly samples: { readonly as_they_ship: Samples; readonly in_other_words: Samples };
}

const STARTS = 5;

/** Returns the medians of some processes that load the engine and answer one question about a table. */
async function measureFirstAnswer(): Promise<Report['start']> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    const beginMs = performance.now();
    const { stdout } = await run(process.execPath, [
      fileURLToPath(new URL('first-answer.ts', import.meta.url)),
    ]);
    times.push(performance.now() - beginMs);
    cpuTimes.push(Number(stdout));
  }
  return { ms: computeMedian(times), cpu_ms: computeMedian(cpuTimes) };
}

const summarySchema = z.object({
  teams: z.object({
    react: z.object({ questions: z.number(), answered: z.number(), correct: z.number() }),
  }),
});

/** Runs `gaia` with the team that may use every tool and returns its result. */
async function measureSamples(name: string, folder: string): Promise<Samples> {
  const files = path.join(codeFolder, 'config', 'samples');
  const { stdout } = await run(
    process.execPath,
    [
      ...[
        path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
        'gaia',
        '--team',
        'react',
        '--engine',
        'extractive',
      ],
      ...['--engine-option', 'temperature=0', '--questions', path.join(files, name)],
      ...['--files', path.join(files, 'files'), '--out', path.join(folder, name), '--no-cache', '--json'],
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return summarySchema.parse(JSON.parse(stdout)).teams.react;
}

const formatShare = (value: number | null) => (value === null ? '–' : formatPercent(value));

function formatTableRows({ tables }: Report): string[][] {
  const row = (what: string, of: (figures: Report['tables'][number]) => string) => [what, ...tables.map(of)];
  return [
    ['', ...tables.map(({ split }) => `split ${split}`)],
    row('questions', ({ questions }) => count(questions)),
    row('right, where the most probable answer is always given', ({ accuracy }) => formatPercent(accuracy)),
    row('answered: probable enough, and with every condition of the question', ({ coverage }) =>
      formatPercent(coverage),
    ),
    row('right, of all questions', ({ accuracy_with_refusals: right }) => formatPercent(right)),
    row('right, of the answers that were given', ({ accuracy_of_given: right }) => formatShare(right)),
    row('right, of the surest answers to half of the questions', ({ accuracy_at_half: right }) =>
      formatShare(right),
    ),
    row('expected calibration error, points', ({ expected_calibration_error: error }) =>
      formatDecimals(100 * (error ?? 0), 1),
    ),
    row('processor time of a question, median, ms', ({ median_cpu_ms: ms }) => formatDecimals(ms, 1)),
    row('processor time of a question, 95th percentile, ms', ({ p95_cpu_ms: ms }) => formatDecimals(ms, 1)),
  ];
}

function formatTextRows({ texts }: Report): string[][] {
  return Object.entries(texts).map(([part, { questions, exact, f1, p95_cpu_ms: ms }]) => [
    part,
    count(questions),
    formatPercent(exact),
    formatPercent(f1),
    formatDecimals(ms, 1),
  ]);
}

const TEXT_HEAD = ['part', 'questions', 'exact', 'F1', 'p95, processor ms'];

function formatSampleRows({ samples: { as_they_ship: first, in_other_words: other } }: Report): string[][] {
  const row = (what: string, { questions, answered, correct }: Samples) => [
    what,
    count(questions),
    count(answered),
    count(correct),
    formatPercent(correct / questions),
  ];
  return [row('as they ship', first), row('in other words', other)];
}

const SAMPLE_HEAD = ['wording', 'questions', 'answered', 'right', 'accuracy'];

function formatStart({ start: { ms, cpu_ms: cpuMs } }: Report): string {
  const whole = (time: number) => count(Math.round(time));
  return `A new process has its first answer about a table after ${whole(ms)} ms, with ${whole(cpuMs)} ms of processor time.`;
}

function formatReport(report: Report): string {
  return [
    formatTable(formatTableRows(report)),
    formatTable([TEXT_HEAD, ...formatTextRows(report)]),
    formatTable([SAMPLE_HEAD, ...formatSampleRows(report)]),
    formatStart(report),
  ].join('\n');
}

function buildEmbeddedPart(report: Report) {
  return {
    facts: `WikiTableQuestions, development parts of the official splits, each with weights that have not seen it`,
    limits: [
      'The embedded engine is a small semantic parser and a reader of passages, not a language model: it knows short questions about one table or text.',
      'The chances of each half of the tables were fitted on the other half; what was tuned (rates, thresholds, temperature) was tuned on split 1, which has questions in common with the others.',
      'The questions of WikiTableQuestions are about tables of Wikipedia; those of a budget or a log are asked otherwise.',
      'Processor time is that of one process with all its threads; on a machine that others use at the same time it is somewhat longer, too.',
    ],
    body: `## Tables

${formatMarkdownTable(formatTableRows(report))}

## Texts

SQuAD's normalisation, the best of all accepted answers; one process, the four steps of the pipeline.

${formatMarkdownTable([TEXT_HEAD, ...formatTextRows(report)])}

## The shipped samples, in two wordings

The second wording was written before the engine was asked it. Team \`react\`, temperature 0.

${formatMarkdownTable([SAMPLE_HEAD, ...formatSampleRows(report)])}

## Start

${formatStart(report)}`,
  };
}
