import { spawn } from 'node:child_process';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { defineTable, flag, option, text, wholeNumber } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { readTaskFile } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import type { SampleComparison } from '@gaia-mesh/evaluation/statistics/levels.ts';
import { print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import {
  listShippedQuestions,
  runCommand,
  trackChild,
  useRunFolder,
  writeTasks,
} from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';
import { compareRounds, formatRatio, runInterleaved } from '../measure/rounds.ts';
import { buildRelayPart, buildRelayReport, formatRelayTables } from '../relay/relay-page.ts';
import { measureRelay } from '../relay/relay-rounds.ts';
import { measureCodecs } from './codecs.ts';
import { measureGrowth } from './growth.ts';
import { buildResultsPart, buildResultsTables } from './results-page.ts';
import { measureAnswers, measureBatch, measureStart } from './runs.ts';

const START_ROUNDS = 11;
const BATCH_ROUNDS = 5;
const TASKS = 500;
const CODEC_ROUNDS = 101;
const RELAY_ROUNDS = 5;
const WATCH_ROUNDS = 15;

const perfTable = defineTable({
  options: z.object({
    json: flag('print the figures as JSON'),
    questions: option(
      '<file>',
      'score the embedded engine on these questions (default: the shipped ones)',
      text.optional(),
    ),
    write: flag('write docs/results/runs.md (with --relay: docs/results/relay.md)'),
    /** True measures only the relay, with all its loads; undefined includes its quick loads. */
    relay: option(
      undefined,
      'measure only the relay, in full: as a run uses it, and flooded beside installed brokers',
      z.boolean().optional(),
      { no: 'leave out the relay' },
    ),
    watch: flag('measure only the cost of a page that follows a run, in pairs of batches'),
    growth: flag('measure only how the time for foreign input grows when it is doubled'),
    rounds: option('<n>', 'run this many rounds, each target once in each', wholeNumber.optional()),
    quick: flag('with --relay: four agents and small packets only, as without it'),
  }),
});

type PerfOptions = z.output<typeof perfTable.options>;

export function definePerf(command: Command): void {
  defineOptions(command, perfTable, run);
}

/** Prints how often longer each kind of foreign input takes when it is doubled: twice, where the work is linear. */
function runGrowthOnly(options: PerfOptions): void {
  const growths = measureGrowth();
  if (options.json) printJson(growths);
  else
    for (const { name, sizes, ms, ratio } of growths)
      print(`${ratio.toFixed(1).padStart(5)} ×  ${name}: ${ms.at(-1)?.toFixed(0)} ms for ${sizes.at(-1)}`);
}

async function run(options: PerfOptions): Promise<void> {
  if (options.relay === true) return runRelayOnly(options);
  if (options.watch) return runWatchOnly(options);
  if (options.growth) return runGrowthOnly(options);
  const { rounds } = options;
  const publish = createPublisher('docs/results/runs.md', options);
  const file = options.questions === undefined ? undefined : resolveUserPath(options.questions);
  const questions = file === undefined ? listShippedQuestions() : readTaskFile(file).tasks;
  console.error('runs of npm run bench …');
  const start = await measureStart(rounds ?? START_ROUNDS);
  console.error(`batches of ${TASKS} tasks …`);
  const batch = await measureBatch(rounds ?? BATCH_ROUNDS, TASKS, questions);
  console.error('the codecs …');
  const codecs = await measureCodecs(rounds ?? CODEC_ROUNDS);
  console.error(`questions of ${file ?? 'the shipped documents'} …`);
  const answers = await measureAnswers(questions);
  const relay = options.relay === false ? undefined : await runRelay({ ...options, quick: true });
  const tables = buildResultsTables(start, batch, codecs, answers);
  await publish({
    report: { start, batch, codecs, answers, relay: relay && buildRelayReport(relay) },
    text: [...Object.values(tables), ...(relay === undefined ? [] : [formatRelayTables(relay)])].join('\n\n'),
    part: buildResultsPart(tables, file && path.basename(file)),
  });
}

async function runRelayOnly(options: PerfOptions): Promise<void> {
  const publish = createPublisher('docs/results/relay.md', options);
  const results = await runRelay(options);
  await publish({
    report: buildRelayReport(results),
    text: formatRelayTables(results),
    part: buildRelayPart(results),
  });
}

/** Measures the goal that a watched run takes at most 3 % longer. */
async function runWatchOnly({ rounds = WATCH_ROUNDS, json }: PerfOptions): Promise<void> {
  const { tasks, time } = await measureWatch(rounds, TASKS);
  if (json) printJson({ tasks, time });
  else
    print(
      `${tasks} tasks with a page that reads, times those without: ${formatRatio(time)}; wanted: at most 1.03`,
    );
}

function runRelay({ rounds = RELAY_ROUNDS, quick }: PerfOptions) {
  return measureRelay(quick, rounds);
}

const summarySchema = z.object({ tasks_per_s: z.number().positive() });

/** The cost of a page that follows a run. */
interface WatchCost {
  readonly tasks: number;
  /** Time of a task with a page that reads, relative to one without. */
  readonly time: SampleComparison;
}

/**
 * Measures the same batch with and without `--watch`, in pairs of random order; a process of its own reads the events,
 * as a browser would.
 */
function measureWatch(rounds: number, tasks: number): Promise<WatchCost> {
  return useRunFolder(async (folder, signal) => {
    const file = writeTasks(folder, listShippedQuestions(), tasks);
    const options = ['--tasks', file, '--json', '--out', folder];
    const secondsOf = async (more: readonly string[]) => 1 / (await measureTaskRate([...options, ...more]));
    const targets = { plain: () => secondsOf([]), watched: () => secondsOf(['--watch']) };
    const samples = await runInterleaved(targets, { rounds, warmUp: 1, signal, shownAs: 'pairs of batches' });
    return { tasks, time: compareRounds(samples.plain, samples.watched) };
  });
}

/** Measures tasks per second; a process reads the events of the page as soon as its address is known. */
async function measureTaskRate(options: readonly string[]): Promise<number> {
  let isReading = false;
  const stdout = await runCommand('bench', ['--port-base', 'auto', ...options], {
    mayFail: true,
    onError(said) {
      const [, url] = /watch it at (\S+)\n/.exec(said) ?? [];
      if (url === undefined || isReading) return;
      isReading = true;
      const args = ['--input-type=module', '-e', READER, `${url}events`];
      trackChild(spawn(process.execPath, args, { stdio: 'ignore' }));
    },
  });
  return summarySchema.parse(JSON.parse(stdout)).tasks_per_s;
}

/** A program that reads events and leaves at the last one, so that the run ends. */
const READER = `
const leave = new AbortController();
const { body } = await fetch(process.argv[1], { signal: leave.signal });
const decoder = new TextDecoder();
let last = '';
for await (const bytes of body) {
  last = (last + decoder.decode(bytes, { stream: true })).slice(-200);
  if (last.includes('"kind":"end"')) break;
}
leave.abort();
`;
