import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { codeFolder } from '../../core/system/package-root.ts';
import { type Comparison, compare } from '../../evaluation/statistics/paired.ts';
import { inFolder, shippedQuestions, started, writeTasks } from '../measure/bench-runs.ts';
import { interleaved } from '../measure/rounds.ts';

const summarySchema = z.object({ tasks_per_s: z.number().positive() });

/** What a page that follows a run costs it. */
export interface WatchCost {
  readonly tasks: number;
  /** Seconds of a task with a page that reads, over those without. */
  readonly time: Comparison;
}

const SEED = 1;

/** The same batch with and without `--watch`, in pairs of random order; a process of its own reads the events, as a browser would. */
export function measureWatch(rounds: number, tasks: number): Promise<WatchCost> {
  return inFolder(async (folder, signal) => {
    const file = writeTasks(folder, shippedQuestions(), tasks);
    const options = ['--tasks', file, '--json', '--out', folder];
    const secondsOf = async (more: readonly string[]) => 1 / (await tasksPerS([...options, ...more]));
    const targets = { plain: () => secondsOf([]), watched: () => secondsOf(['--watch']) };
    const samples = await interleaved(targets, { rounds, warmUp: 1, signal, shownAs: 'pairs of batches' });
    return { tasks, time: compare(samples.plain, samples.watched, { seed: SEED }) };
  });
}

async function tasksPerS(options: readonly string[]): Promise<number> {
  const args = ['run', '-s', 'bench', '--', '--port-base', 'auto', ...options];
  const child = started(spawn('npm', args, { cwd: codeFolder, stdio: ['ignore', 'pipe', 'pipe'] }));
  const stdout = textOf(child.stdout);
  const reader = readerOf(child.stderr);
  const [code] = await new Promise<[number | null]>((resolve) => child.on('close', (how) => resolve([how])));
  const stderr = await reader;
  if (code !== 0) throw new Error(`bench ended with exit code ${code}: ${stderr}`);
  return summarySchema.parse(JSON.parse(await stdout)).tasks_per_s;
}

async function textOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const part of stream.setEncoding('utf8')) text += part;
  return text;
}

/** Reads the events of the page as soon as its address is there, until the run has ended. */
async function readerOf(stderr: Readable): Promise<string> {
  let text = '';
  let isReading = false;
  for await (const part of stderr.setEncoding('utf8')) {
    text = (text + part).slice(-4096);
    const [, url] = /watch it at (\S+)\n/.exec(text) ?? [];
    if (url === undefined || isReading) continue;
    isReading = true;
    started(
      spawn(process.execPath, ['--input-type=module', '-e', READER, `${url}events`], { stdio: 'ignore' }),
    );
  }
  return text;
}

/** Leaves at the last event, so that the run ends. */
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
