import { closeSync, fstatSync, readSync } from 'node:fs';
import path from 'node:path';
import type * as z from 'zod';
import { toFolderName } from '../../contracts/packet.ts';
import { openUntrustedFile } from '../../system/files/untrusted-file.ts';
import { tryParseJson } from '../../system/json-line.ts';

/** Maximum bytes of one read; a line is shorter, and a longer one without an end is skipped. */
const MAX_READ_BYTES = 1024 * 1024;

/** The value of one line, and the agent that wrote it. */
interface AgentLine<Value> {
  readonly agent: string;
  readonly value: Value;
  /** Length of the line. */
  readonly characters: number;
}

/**
 * Lines that the agents `ids` append to the files of one name in their workspaces. Lines already there belong
 * to earlier runs.
 */
export class AgentLines<Value> {
  readonly #files: ReadonlyMap<string, GrowingFile>;
  readonly #schema: z.ZodType<Value>;

  constructor(workspaces: string, ids: readonly string[], fileName: string, schema: z.ZodType<Value>) {
    this.#schema = schema;
    this.#files = new Map(
      ids.map((id) => [id, new GrowingFile(path.join(workspaces, toFolderName(id), fileName))]),
    );
  }

  /**
   * Yields the lines that were finished since the last call, agent by agent. Lines of another form are skipped:
   * the notice that a log was cut, or those of a file that is not ours.
   */
  *next(): Generator<AgentLine<Value>> {
    for (const [agent, file] of this.#files) {
      for (const line of file.newLines()) {
        const parsed = this.#schema.safeParse(tryParseJson(line));
        if (parsed.success) yield { agent, value: parsed.data, characters: line.length };
      }
    }
  }
}

/** A file to which another process appends lines. */
class GrowingFile {
  readonly #path: string;
  #offset = 0;

  constructor(file: string) {
    this.#path = file;
    // Skip the present content: it belongs to earlier runs.
    for (const _line of this.newLines());
  }

  /** Yields the lines that were finished since the last call; none while the file is missing. */
  *newLines(): Generator<string> {
    const descriptor = openUntrustedFile(this.#path);
    if (descriptor === undefined) return;
    try {
      for (;;) {
        const text = this.#rest(descriptor);
        const isFull = text.length === MAX_READ_BYTES;
        const end = text.lastIndexOf('\n') + 1;
        this.#offset += end === 0 && isFull ? text.length : end;
        yield* text.toString('utf8', 0, end).split('\n').slice(0, -1);
        if (!isFull) return;
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #rest(descriptor: number): Buffer {
    const { size } = fstatSync(descriptor);
    const length = Math.min(MAX_READ_BYTES, Math.max(0, size - this.#offset));
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, this.#offset));
  }
}
