import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

/** Where an outbox is kept: lines of one run, in the order in which they were added. One call at a time. */
export interface Journal {
  /** For people. */
  readonly where: string;
  /** What is there of the run. A line that its writer did not finish is not. */
  read(): Promise<string[]>;
  /** Settles when the line outlives this process. */
  append(line: string): Promise<void>;
  /** These lines take the place of all before. Whoever reads meanwhile sees no less than either. */
  replace(lines: readonly string[]): Promise<void>;
  close(): void;
}

/** @throws MeshError `io` where there is none to be had */
export type OpenJournal = (runId: string) => Promise<Journal>;

const OUTBOX_FILE = 'outbox.jsonl';

/**
 * A file in the agent's workspace. Its first line names the run. Written is handed to the system, which outlives the process; a
 * machine that loses its power may lose it.
 */
export class FileJournal implements Journal {
  readonly where: string;
  readonly #head: string;
  #descriptor: number | undefined;

  constructor(workspace: string, runId: string) {
    this.where = path.join(workspace, OUTBOX_FILE);
    this.#head = JSON.stringify({ run: runId });
  }

  async read(): Promise<string[]> {
    if (!existsSync(this.where)) return [];
    const [head, ...lines] = readFileSync(this.where, 'utf8').split('\n').slice(0, -1);
    return head === this.#head ? lines : [];
  }

  async append(line: string): Promise<void> {
    this.#descriptor ??= openSync(this.where, 'a', 0o600);
    const bytes = Buffer.from(`${line}\n`);
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
  }

  /** A reader sees the old file or the new one, never half of it. */
  async replace(lines: readonly string[]): Promise<void> {
    this.close();
    const text = [this.#head, ...lines].map((line) => `${line}\n`).join('');
    writeFileSync(`${this.where}.part`, text, { mode: 0o600 });
    renameSync(`${this.where}.part`, this.where);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
