import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { JsonObject } from '../contracts/packet.ts';
import { buildDocumentPayload, type Task } from '../contracts/task.ts';

/**
 * Logs the tasks of a run as lines of `tasks.jsonl`, from which the run can be repeated. Documents and
 * batches are long, so they are kept there and not in memory.
 */
export class TaskLog {
  readonly #descriptor: number;
  readonly #lines = new Map<string, { readonly at: number; readonly bytes: number }>();
  #end = 0;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'w+', 0o600);
  }

  /** Adds a task; a repeated task is stored once. */
  add(task: Task): void {
    if (this.#lines.has(task.taskId)) return;
    const line = Buffer.from(formatTaskLine(task));
    for (let from = 0; from < line.length; )
      from += writeSync(this.#descriptor, line, from, line.length - from, this.#end + from);
    this.#lines.set(task.taskId, { at: this.#end, bytes: line.length });
    this.#end += line.length;
  }

  /** Rebuilds the payload of the document that opened a task; undefined for a task that was not asked. */
  payloadOf(taskId: string): JsonObject | undefined {
    const line = this.#lines.get(taskId);
    if (line === undefined) return undefined;
    const bytes = Buffer.allocUnsafe(line.bytes);
    readSync(this.#descriptor, bytes, 0, line.bytes, line.at);
    const { task_id, question, document, file_name: fileName } = JSON.parse(bytes.toString());
    return buildDocumentPayload({
      taskId: task_id,
      question,
      document,
      truths: [],
      fileName,
    });
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Formats a task as a line of `tasks.jsonl`. */
export function formatTaskLine(task: Task): string {
  const [answer, ...aliases] = task.truths;
  const line = {
    task_id: task.taskId,
    question: task.question,
    document: task.document,
    answer,
    aliases: answer === undefined ? undefined : aliases,
    file_name: task.fileName,
    source: task.source,
    level: task.level,
  };
  return `${JSON.stringify(line)}\n`;
}
