import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { wilson } from '../../core/evaluation/confidence.ts';
import { taskLine } from '../../core/run/archive.ts';
import type { Task } from '../../core/tasks/task.ts';
import { inFolder, runBench } from './measure.ts';

const partSchema = z.object({ tasks: z.int(), normalized_em: z.number(), f1: z.number() });
const summarySchema = partSchema.extend({ by_part: z.record(z.string(), partSchema) });

/** Parts with fewer questions say nothing. */
const MIN_TASKS = 10;

/** Fractions right, by part and over `all`, with the Wilson interval of the exact matches. */
export type Answers = Readonly<
  Record<string, z.infer<typeof partSchema> & { readonly low: number; readonly high: number }>
>;

/** Lets the mesh answer every question. */
export function measureAnswers(questions: readonly Task[]): Promise<Answers> {
  return inFolder(async (folder) => {
    const file = path.join(folder, 'questions.jsonl');
    writeFileSync(file, questions.map(taskLine).join(''));
    const { stdout } = await runBench(folder, ['--tasks', file, '--json']);
    const { by_part, ...all } = summarySchema.parse(JSON.parse(stdout));
    const parts = Object.entries({ ...by_part, all }).filter(([, part]) => part.tasks >= MIN_TASKS);
    return Object.fromEntries(
      parts.map(([name, part]) => [
        name,
        { ...part, ...wilson(Math.round(part.normalized_em * part.tasks), part.tasks) },
      ]),
    );
  });
}
