import * as z from 'zod';
import type { JsonObject } from '../contracts/packet.ts';
import { buildDocumentPayload, type Task } from '../contracts/task.ts';
import { AppendLog, type RecordPlace } from '../system/append-log.ts';

const taskLineSchema = z.object({
  task_id: z.string(),
  question: z.string(),
  document: z.string(),
  answer: z.string().optional(),
  aliases: z.array(z.string()).optional(),
  file_name: z.string().optional(),
  source: z.string().optional(),
  level: z.string().optional(),
});
type TaskLine = z.infer<typeof taskLineSchema>;

/**
 * Logs the tasks of a run as lines of `tasks.jsonl`, from which the run can be repeated. Documents and
 * batches are long, so they are kept there and not in memory.
 */
export class TaskLog {
  readonly #log: AppendLog<TaskLine>;
  readonly #places = new Map<string, RecordPlace>();

  constructor(file: string) {
    this.#log = AppendLog.create(file, { what: 'log of tasks', schema: taskLineSchema });
  }

  /** Adds a task; a repeated task is stored once. */
  add(task: Task): void {
    if (!this.#places.has(task.taskId)) this.#places.set(task.taskId, this.#log.append(toTaskLine(task)));
  }

  /** Rebuilds the payload of the document that opened a task; undefined for a task that was not asked. */
  payloadOf(taskId: string): JsonObject | undefined {
    const place = this.#places.get(taskId);
    if (place === undefined) return undefined;
    const { question, document, file_name: fileName } = this.#log.read(place);
    return buildDocumentPayload({ taskId, question, document, truths: [], fileName });
  }

  close(): void {
    this.#log.close();
  }
}

function toTaskLine(task: Task): TaskLine {
  const [answer, ...aliases] = task.truths;
  return {
    task_id: task.taskId,
    question: task.question,
    document: task.document,
    answer,
    aliases: answer === undefined ? undefined : aliases,
    file_name: task.fileName,
    source: task.source,
    level: task.level,
  };
}
