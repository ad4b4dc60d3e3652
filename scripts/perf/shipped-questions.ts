import path from 'node:path';
import type { Task } from '../../core/tasks/task.ts';
import { readTaskFile } from '../../core/tasks/task-source.ts';
import { shippedTasks, tasksFolder } from '../bench/plan.ts';

/** Every question about every document that ships with the project. */
export function shippedQuestions(): Task[] {
  return shippedTasks().flatMap((name) => readTaskFile(path.join(tasksFolder, name, 'questions.jsonl')));
}
