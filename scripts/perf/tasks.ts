import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { taskLine } from '../../core/run/archive.ts';
import type { Task } from '../../core/tasks/task.ts';
import { type Figures, figuresOf, inFolder, runBench } from './measure.ts';

const summarySchema = z.object({
  tasks_per_s: z.number(),
  p50_ms: z.number(),
  p95_ms: z.number(),
  tasks: z.int(),
});

export interface TaskFigures {
  readonly tasks: number;
  readonly tasksPerS: Figures;
  readonly p50Ms: Figures;
  readonly p95Ms: Figures;
  /** Resident memory of the hub's process and of the largest agent, MB: a quarter of the way in, and at the end. */
  readonly memory: { readonly hubMb: [number, number]; readonly agentMb: [number, number] };
}

/** Each sample starts a `ps`, which takes its own share of two cores. */
const SAMPLE_EVERY_MS = 500;

/** Many tasks on the same live agents: the first of `questions`, over and over if there are fewer. */
export function measureTasks(
  rounds: number,
  tasks: number,
  questions: readonly Task[],
): Promise<TaskFigures> {
  return inFolder(async (folder) => {
    const file = path.join(folder, 'perf-tasks.jsonl');
    writeFileSync(file, taskLines(tasks, questions));
    const summaries: z.infer<typeof summarySchema>[] = [];
    let memory: readonly { hubMb: number; agentMb: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const run = await runBench(folder, ['--tasks', file, '--json'], SAMPLE_EVERY_MS);
      summaries.push(summarySchema.parse(JSON.parse(run.stdout)));
      memory = run.memory;
    }
    const early = memory[Math.floor(memory.length / 4)];
    // The last sample with all agents alive: what comes after is the end of the run, not its tasks.
    const late = memory.findLast(({ agentMb }) => agentMb > 0);
    return {
      tasks,
      tasksPerS: figuresOf(summaries.map((summary) => summary.tasks_per_s)),
      p50Ms: figuresOf(summaries.map((summary) => summary.p50_ms)),
      p95Ms: figuresOf(summaries.map((summary) => summary.p95_ms)),
      memory: {
        hubMb: [early?.hubMb ?? 0, late?.hubMb ?? 0],
        agentMb: [early?.agentMb ?? 0, late?.agentMb ?? 0],
      },
    };
  });
}

function taskLines(count: number, questions: readonly Task[]): string {
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const task = questions[i % questions.length];
    if (task !== undefined) lines.push(taskLine({ ...task, taskId: `perf-${i}` }));
  }
  return lines.join('');
}
