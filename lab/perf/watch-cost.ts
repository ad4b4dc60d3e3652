import { spawn } from 'node:child_process';
import * as z from 'zod';
import { type Comparison, compare } from '../../evaluation/statistics/paired.ts';
import { inFolder, outputOf, shippedQuestions, started, writeTasks } from '../measure/bench-runs.ts';
import { interleaved } from '../measure/rounds.ts';

const summarySchema = z.object({ tasks_per_s: z.number().positive() });

/** What a page that follows a run costs it. */
interface WatchCost {
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

/** A process reads the events of the page as soon as its address is there. */
async function tasksPerS(options: readonly string[]): Promise<number> {
  let isReading = false;
  const stdout = await outputOf('bench', ['--port-base', 'auto', ...options], {
    onError(said) {
      const [, url] = /watch it at (\S+)\n/.exec(said) ?? [];
      if (url === undefined || isReading) return;
      isReading = true;
      const args = ['--input-type=module', '-e', READER, `${url}events`];
      started(spawn(process.execPath, args, { stdio: 'ignore' }));
    },
  });
  return summarySchema.parse(JSON.parse(stdout)).tasks_per_s;
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
