import * as z from 'zod';
import { jsonIn } from '../../../core/system/json-line.ts';

const endingSchema = z.object({
  event: z.literal('task_ended'),
  task_id: z.string(),
  status: z.enum(['answered', 'timeout', 'failed']),
  answer: z.string().nullable(),
  reason: z.string().optional(),
  elapsed_ms: z.number().nonnegative(),
});

/** How a task ended. */
export type TaskEnding = Omit<z.infer<typeof endingSchema>, 'event' | 'task_id'>;

/** The endings that a hub's log tells, by task. */
export function taskEndings(hubLog: string): Map<string, TaskEnding> {
  const endings = new Map<string, TaskEnding>();
  for (const line of hubLog.split('\n')) {
    if (!line.includes('"task_ended"')) continue;
    const parsed = endingSchema.safeParse(jsonIn(line));
    if (!parsed.success) continue;
    const { event: _event, task_id, ...ending } = parsed.data;
    endings.set(task_id, ending);
  }
  return endings;
}
