import { CHUNK_CHARACTERS } from './limits.ts';
import type { JsonObject } from './packet.ts';

/** One question about one document. */
export interface Task {
  readonly taskId: string;
  readonly question: string;
  readonly document: string;
  /**
   * The true answer and its other accepted forms. If it is empty, the answer is unknown and quality is not
   * scored.
   */
  readonly truths: readonly string[];
  /** Name of the file that belongs to the question; it lies in the task's folder (`task-files.ts`). */
  readonly fileName?: string | undefined;
  /**
   * Description of that file in a few lines, for agents that decide what to do with it before they read it.
   */
  readonly fileOutline?: string | undefined;
  readonly source?: string | undefined;
  readonly level?: string | undefined;
}

/**
 * Cuts a document into chunks of 400 characters, the last one shorter; concatenated they give it back
 * (MP-21). A character is a Unicode code point, so no chunk ends inside one. Lone surrogates, which no
 * encoding can carry, become U+FFFD.
 */
export function chunkDocument(document: string): string[] {
  const text = document.toWellFormed();
  const chunks: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start;
    for (let count = 0; count < CHUNK_CHARACTERS && end < text.length; count++) {
      end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
    }
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

/** Returns the payload of the `doc_init` packet that opens a task. */
export function buildDocumentPayload(task: Task): JsonObject {
  return {
    question: task.question.toWellFormed(),
    chunks: chunkDocument(task.document),
    ...(task.fileName === undefined ? {} : { file_name: task.fileName.toWellFormed() }),
    ...(task.fileOutline === undefined ? {} : { file_outline: task.fileOutline.toWellFormed() }),
  };
}
