import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { toFolderName } from '../../contracts/node-id.ts';

/** Read at a time; a line is shorter, and whatever has no end in so many bytes is stepped over. */
const MAX_READ_BYTES = 1024 * 1024;
/** An agent that puts a pipe or a link in the place of its file stops nobody, and shows nothing. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** What the agents `ids` append to the files of one name in their workspaces. What is in these already is of earlier runs. */
export class AgentLines {
  readonly #files: readonly GrowingFile[];

  constructor(workspaces: string, ids: readonly string[], fileName: string) {
    this.#files = ids.map((id) => new GrowingFile(path.join(workspaces, toFolderName(id), fileName)));
  }

  /** The lines that were finished since the last call, agent by agent. */
  *next(): Generator<string> {
    for (const file of this.#files) yield* file.newLines();
  }
}

/** A file that others append lines to. */
class GrowingFile {
  readonly #path: string;
  #offset = 0;

  constructor(file: string) {
    this.#path = file;
    // Whatever is in it is old.
    this.newLines();
  }

  /** The lines that were finished since the last call; none while there is no file. */
  newLines(): string[] {
    let descriptor: number;
    try {
      descriptor = openSync(this.#path, OPEN_FLAGS);
    } catch {
      return [];
    }
    try {
      const lines: string[] = [];
      for (;;) {
        const text = this.#rest(descriptor);
        const isFull = text.length === MAX_READ_BYTES;
        const end = text.lastIndexOf('\n') + 1;
        this.#offset += end === 0 && isFull ? text.length : end;
        lines.push(...text.toString('utf8', 0, end).split('\n').slice(0, -1));
        if (!isFull) return lines;
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #rest(descriptor: number): Buffer {
    const file = fstatSync(descriptor);
    const length = file.isFile() ? Math.min(MAX_READ_BYTES, Math.max(0, file.size - this.#offset)) : 0;
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, this.#offset));
  }
}
