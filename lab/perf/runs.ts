import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import * as z from 'zod';
import { type RunMemory, runBench, useRunFolder, writeTasks } from '../measure/bench-runs.ts';
import { type Estimate, estimateMedian, runInterleaved } from '../measure/rounds.ts';

const metricsSchema = z.object({
  elapsed_ms: z.number(),
  hops: z.array(z.object({ tool_us: z.number().nullable() })),
});

/** Times that a person waits for the default run, in milliseconds. */
export interface StartTimes {
  /** Time from `npm run bench` to the prompt. */
  readonly wallMs: Estimate | undefined;
  /** Time from the broadcast to the final answer, without the time in tools. */
  readonly meshMs: Estimate | undefined;
}

/** Measures the default run. The first run, which compiles the code, does not count. */
export function measureStart(rounds: number): Promise<StartTimes> {
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

const batchSchema = z.object({ tasks_per_s: z.number(), p50_ms: z.number(), p95_ms: z.number() });

/** Times and memory of a batch on the same live agents. */
export interface BatchTimes {
  readonly tasks: number;
  readonly tasksPerS: Estimate | undefined;
  readonly p50Ms: Estimate | undefined;
  readonly p95Ms: Estimate | undefined;
  /** Memory a quarter of the way in, and at the end. */
  readonly memory: { readonly early: RunMemory; readonly late: RunMemory };
}

/** Milliseconds between samples; each starts a `ps`, which takes its own share of two cores. */
const SAMPLE_EVERY_MS = 500;
const NO_MEMORY: RunMemory = { hubMb: 0, agentMb: 0 };

/** Measures the first `tasks` of `questions`, repeated if there are fewer. */
export function measureBatch(rounds: number, tasks: number, questions: readonly Task[]): Promise<BatchTimes> {
  return useRunFolder(async (folder, signal) => {
    const options = ['--tasks', writeTasks(folder, questions, tasks), '--json'];
    const bench = async () => {
      const { stdout, memory } = await runBench(folder, options, SAMPLE_EVERY_MS);
      return { ...batchSchema.parse(JSON.parse(stdout)), memory };
    };
    const samples = (await runInterleaved({ bench }, { rounds, signal, shownAs: 'batches' })).bench;
    const memory = samples.at(-1)?.memory ?? [];
    return {
      tasks,
      tasksPerS: estimateMedian(samples.map(({ tasks_per_s }) => tasks_per_s)),
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
