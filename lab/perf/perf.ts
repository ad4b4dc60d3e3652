import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { TaskLog } from '@gaia-mesh/core/run/task-log.ts';
import { defineTable, flag, option, wholeNumber } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { readTaskFile } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import { listShippedTasks, resolveTaskFolder } from '@gaia-mesh/evaluation/questions/task-source.ts';
import {
  compareNestedSamples,
  type SampleComparison,
} from '@gaia-mesh/evaluation/statistics/nested-samples.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { print, printJson } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatDecimals } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { type RunMemory, runBench, runCommand, trackChild, useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';
import { type Estimate, estimateMedian, estimateText, runInterleaved } from '../measure/rounds.ts';
import { reportRelay } from '../relay/relay-page.ts';
import { measureRelay } from '../relay/relay-rounds.ts';

const START_ROUNDS = 11;
const BATCH_ROUNDS = 5;
/** Tasks over which a rate is measured, and those of the whole batch, in which V8 compiles for a few seconds. */
const TASKS = 500;
const BATCH_TASKS = 2500;
const RELAY_ROUNDS = 5;
const WATCH_ROUNDS = 15;

const perfTable = defineTable({
  options: z.object({
    json: flag('print the figures as JSON'),
    write: flag('write docs/results/runs.md (with --relay: docs/results/relay.md)'),
    relay: flag('measure only the relay, beside installed brokers'),
    watch: flag('measure only the cost of the live page'),
    rounds: option('<n>', 'measure each target in this many rounds', wholeNumber.optional()),
    quick: flag('with --relay: measure four agents and small packets only'),
  }),
});

type PerfOptions = z.output<typeof perfTable.options>;

export function definePerf(command: Command): void {
  defineOptions(command, perfTable, run);
}

async function run(options: PerfOptions): Promise<void> {
  if (options.relay) return runRelayOnly(options);
  if (options.watch) return runWatchOnly(options);
  const { rounds } = options;
  const publish = createPublisher('docs/results/runs.md', options);
  console.error('runs of npm run bench …');
  const start = await measureStart(rounds ?? START_ROUNDS);
  console.error(`batches of ${BATCH_TASKS} tasks …`);
  const batch = await measureBatch(rounds ?? BATCH_ROUNDS);
  const table = formatSpeed(start, batch);
  await publish({
    report: { start, batch },
    text: table,
    part: {
      facts: 'four agents, embedded engine, adapter json',
      limits: ['Loopback is not a network, and a machine that others use at the same time is slower.'],
      body: `Medians, with the 95 % interval of the median in brackets. The batch is of ${BATCH_TASKS.toLocaleString('en')} questions about the four shipped documents, four at a time, and begins on agents that have done nothing yet. In its first seconds V8 compiles the code of each process.\n\n${table}`,
    },
  });
}

/** Formats times and memory as a Markdown table. */
function formatSpeed(start: StartTimes, batch: BatchTimes): string {
  const { early, late } = batch.memory;
  const growth = (from: number, to: number) => `${from.toFixed(0)} → ${to.toFixed(0)} MB`;
  return formatMarkdownTable([
    ['what', 'measured', 'wanted'],
    ['`npm run bench`, from start to prompt', estimateText(start.wallMs, 'ms'), 'at most 1,500 ms (aim 600)'],
    ['of it in the mesh (all but tools)', estimateText(start.meshMs, 'ms'), 'below 20 ms'],
    [
      `the first ${TASKS} tasks of a batch`,
      estimateText(batch.firstPerS, 'tasks/s'),
      'at least 100 tasks/s (aim 250)',
    ],
    [`the last ${TASKS} tasks`, estimateText(batch.lastPerS, 'tasks/s'), ''],
    ['time of one task of the batch, median', estimateText(batch.p50Ms, 'ms'), ''],
    ['time of one task of the batch, 95th percentile', estimateText(batch.p95Ms, 'ms'), ''],
    ['memory of hub and launcher, a quarter in → end', growth(early.hubMb, late.hubMb), 'flat'],
    ['memory of the largest agent, a quarter in → end', growth(early.agentMb, late.agentMb), 'flat'],
  ]);
}

async function runRelayOnly(options: PerfOptions): Promise<void> {
  const publish = createPublisher('docs/results/relay.md', options);
  await publish(reportRelay(await measureRelay(options.quick, options.rounds ?? RELAY_ROUNDS)));
}

/** Measures the goal that a watched run takes at most 3 % longer. */
async function runWatchOnly({ rounds = WATCH_ROUNDS, json }: PerfOptions): Promise<void> {
  const time = await measureWatch(rounds);
  if (json) printJson({ tasks: TASKS, time });
  else
    print(
      `${TASKS} tasks with a page that reads, times those without: ${formatRatio(time)}; wanted: at most 1.03`,
    );
}

/** Formats a ratio within rounds with its 95 % interval: `1.57 (1.25–1.91)`. */
function formatRatio({ ratio, low, high }: SampleComparison): string {
  const interval = Number.isFinite(high)
    ? `${formatDecimals(low, 2)}–${formatDecimals(high, 2)}`
    : 'too few rounds for an interval';
  return `${formatDecimals(ratio, 2)} (${interval})`;
}

/**
 * Writes a file for `--tasks` with the questions about the documents that ship with the project, repeated until there
 * are as many as a batch has, and returns its path.
 */
function writeTasks(folder: string, count: number): string {
  const questions = listShippedTasks().flatMap(
    (name) => readTaskFile(path.join(resolveTaskFolder(name), 'questions.jsonl')).tasks,
  );
  const file = path.join(folder, 'lab-tasks.jsonl');
  const log = new TaskLog(file);
  for (let i = 0; i < count; i++) {
    const task = questions[i % questions.length];
    if (task !== undefined) log.add({ ...task, taskId: `task-${String(i).padStart(4, '0')}` });
  }
  log.close();
  return file;
}

const summarySchema = z.object({ tasks_per_s: z.number().positive() });

/**
 * Measures the same batch with and without `--watch`, in pairs of random order; a process of its own reads the events,
 * as a browser would. Returns the time of a task with a page that reads, relative to one without.
 */
function measureWatch(rounds: number): Promise<SampleComparison> {
  return useRunFolder(async (folder, signal) => {
    const options = ['--tasks', writeTasks(folder, TASKS), '--json', '--out', folder];
    const secondsOf = async (more: readonly string[]) => 1 / (await measureTaskRate([...options, ...more]));
    const targets = { plain: () => secondsOf([]), watched: () => secondsOf(['--watch']) };
    const samples = await runInterleaved(targets, { rounds, warmUp: 1, signal, shownAs: 'pairs of batches' });
    const toSamples = (values: readonly number[]) => values.map((value) => [value]);
    return compareNestedSamples(toSamples(samples.plain), toSamples(samples.watched), 1);
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

/** A program that reads events until the last one, so that the run ends. */
const READER = `
const leave = new AbortController();
const { body } = await fetch(process.argv[1], { signal: leave.signal });
const decoder = new TextDecoder();
let last = '';
for await (const bytes of body) {
  last = (last + decoder.decode(bytes, { stream: true })).slice(-200);
  if (last.includes('"stream_ended"')) break;
}
leave.abort();
`;

const metricsSchema = z.object({
  elapsed_ms: z.number(),
  hops: z.array(z.object({ tool_us: z.number().nullable() })),
});

/** Times that a person waits for the default run, in milliseconds. */
interface StartTimes {
  /** Time from `npm run bench` to the prompt. */
  readonly wallMs: Estimate | undefined;
  /** Time from the broadcast to the final answer, without the time in tools. */
  readonly meshMs: Estimate | undefined;
}

/** Measures the default run. The first run, which compiles the code, does not count. */
function measureStart(rounds: number): Promise<StartTimes> {
  return useRunFolder(async (folder, signal) => {
    const bench = async () => {
      const { wallMs } = await runBench(folder);
      const text = readFileSync(path.join(folder, 'metrics.json'), 'utf8');
      const { elapsed_ms, hops } = metricsSchema.parse(JSON.parse(text));
      return { wallMs, meshMs: elapsed_ms - hops.reduce((sum, hop) => sum + (hop.tool_us ?? 0), 0) / 1000 };
    };
    const samples = (await runInterleaved({ bench }, { rounds, warmUp: 1, signal, shownAs: 'runs' })).bench;
    return {
      wallMs: estimateMedian(samples.map(({ wallMs }) => wallMs)),
      meshMs: estimateMedian(samples.map(({ meshMs }) => meshMs)),
    };
  });
}

const batchSchema = z.object({ p50_ms: z.number(), p95_ms: z.number() });

/** Times and memory of a batch on the same live agents. */
interface BatchTimes {
  readonly tasks: number;
  /** Rates of the first and of the last {@link TASKS} tasks. */
  readonly firstPerS: Estimate | undefined;
  readonly lastPerS: Estimate | undefined;
  readonly p50Ms: Estimate | undefined;
  readonly p95Ms: Estimate | undefined;
  /** Memory a quarter of the way in, and at the end. */
  readonly memory: { readonly early: RunMemory; readonly late: RunMemory };
}

/** Milliseconds between samples; each starts a `ps`, which takes its own share of two cores. */
const SAMPLE_EVERY_MS = 500;
const NO_MEMORY: RunMemory = { hubMb: 0, agentMb: 0 };

/** Measures a batch of the shipped questions, repeated as often as it needs. */
function measureBatch(rounds: number): Promise<BatchTimes> {
  return useRunFolder(async (folder, signal) => {
    const options = ['--tasks', writeTasks(folder, BATCH_TASKS), '--json'];
    const bench = async () => {
      const { stdout, memory } = await runBench(folder, options, SAMPLE_EVERY_MS);
      return { ...batchSchema.parse(JSON.parse(stdout)), ...readRates(folder), memory };
    };
    const samples = (await runInterleaved({ bench }, { rounds, signal, shownAs: 'batches' })).bench;
    const memory = samples.at(-1)?.memory ?? [];
    return {
      tasks: BATCH_TASKS,
      firstPerS: estimateMedian(samples.map(({ first }) => first)),
      lastPerS: estimateMedian(samples.map(({ last }) => last)),
      p50Ms: estimateMedian(samples.map(({ p50_ms }) => p50_ms)),
      p95Ms: estimateMedian(samples.map(({ p95_ms }) => p95_ms)),
      memory: {
        early: memory[Math.floor(memory.length / 4)] ?? NO_MEMORY,
        // The last sample with all agents alive: later ones show the end of the run, not its tasks.
        late: memory.findLast(({ agentMb }) => agentMb > 0) ?? NO_MEMORY,
      },
    };
  });
}

/** Reads the tasks per second of the first and the last {@link TASKS} tasks from the hub's log. */
function readRates(folder: string) {
  const log = readFileSync(path.join(folder, 'workspaces', 'hub.log'), 'utf8');
  const [began] = readRunEvents(log, ['task_began']);
  const ends = Array.from(readRunEvents(log, ['task_ended']), ({ time }) => time);
  const rate = (fromMs = Number.NaN, toMs = Number.NaN) => (TASKS * 1000) / (toMs - fromMs);
  return { first: rate(began?.time, ends[TASKS - 1]), last: rate(ends.at(-1 - TASKS), ends.at(-1)) };
}
