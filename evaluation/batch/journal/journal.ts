import { closeSync, existsSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { FileLock } from '@gaia-mesh/core/system/files/file-lock.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { checkSetup, type Fingerprint } from '../../plan/batch-setup.ts';
import type { GaiaResult } from '../../results/gaia-result.ts';
import { formatResultKey, JournalIndex, type ResultKey } from './journal-index.ts';

/** Version of the journal's format. */
const JOURNAL_VERSION = 1;

const headerSchema = z.strictObject({
  journal: z.literal(JOURNAL_VERSION),
  setup: z.record(z.string(), z.string()),
});

/**
 * The results of a batch, one JSON line each, after a line with the batch's fingerprint. Each line is appended in one write, so
 * that a killed process leaves whole lines and at most one torn one, which is dropped on resume. Only the positions of the lines
 * are held in memory.
 */
export class Journal {
  readonly file: string;
  /** Notice about a line that was dropped because it was torn when the writer was killed. */
  readonly dropped: string | undefined;
  readonly #descriptor: number;
  readonly #lock: FileLock;
  readonly #index: JournalIndex;
  #end = 0;

  private constructor(file: string, descriptor: number, lock: FileLock, fingerprint: Fingerprint) {
    this.file = file;
    this.#descriptor = descriptor;
    this.#lock = lock;
    this.#index = new JournalIndex(file, descriptor);
    this.dropped = this.#readAll(fingerprint);
  }

  /**
   * Opens the journal of a batch. With `resume`, new results are appended; otherwise an existing journal is renamed to
   * `<file>.previous`.
   *
   * @throws MeshError `usage` if it belongs to another set-up; `store` if a line in the middle is damaged;
   * `locked` while another process writes it; `io`
   */
  static open(file: string, fingerprint: Fingerprint, { resume }: { readonly resume: boolean }): Journal {
    const lock = lockBatch(file, 'another batch');
    let descriptor: number | undefined;
    try {
      if (!resume && existsSync(file)) renameSync(file, `${file}.previous`);
      descriptor = openSync(file, existsSync(file) ? 'r+' : 'w+');
      return new Journal(file, descriptor, lock, fingerprint);
    } catch (error) {
      if (descriptor !== undefined) closeSync(descriptor);
      lock.release();
      if (error instanceof MeshError) throw error;
      throw new MeshError('io', `journal ${file}: ${toErrorMessage(error)}`, { cause: error });
    }
  }

  get size(): number {
    return this.#index.size;
  }

  has(key: ResultKey): boolean {
    return this.#index.has(key);
  }

  /**
   * Appends a result. It is in the file when the call returns, and survives the end of this process.
   *
   * @throws MeshError `io` if the disk is full; nothing more can be finished then
   */
  append(result: GaiaResult): void {
    // This is a bug of the batch, which would pay for the question twice.
    if (this.#index.has(result))
      throw new Error(`result ${formatResultKey(result)} is in the journal already`);
    const { at, bytes } = this.#write(`${JSON.stringify(result)}\n`);
    this.#index.set(result, at, bytes);
  }

  /** Reads a result from the file, or returns undefined if the attempt is not finished. */
  read(key: ResultKey): GaiaResult | undefined {
    return this.#index.read(key);
  }

  close(): void {
    closeSync(this.#descriptor);
    this.#lock.release();
  }

  #write(line: string): { at: number; bytes: number } {
    const bytes = Buffer.from(line);
    const at = this.#end;
    try {
      for (let from = 0; from < bytes.length; )
        from += writeSync(this.#descriptor, bytes, from, bytes.length - from, at + from);
    } catch (error) {
      const full = readSystemCode(error) === 'ENOSPC' ? 'the disk is full' : toErrorMessage(error);
      throw new MeshError('io', `journal ${this.file}: ${full}: finished results are kept`, {
        cause: error,
      });
    }
    this.#end = at + bytes.length;
    return { at, bytes: bytes.length };
  }

  #readAll(fingerprint: Fingerprint): string | undefined {
    const header = `${JSON.stringify({ journal: JOURNAL_VERSION, setup: fingerprint })}\n`;
    const { end, dropped } = this.#index.load((line, isWhole, where) => {
      // The writer was killed within the first write. Any other beginning means that the file is not ours.
      if (!isWhole && header.startsWith(line)) return false;
      checkSetup(this.file, parseJournalHeader(line, where).setup, fingerprint);
      return true;
    });
    this.#end = this.#index.forgetLastTimeouts() ?? end;
    // The next result must begin on a line of its own.
    ftruncateSync(this.#descriptor, this.#end);
    if (end === 0) this.#write(header);
    return dropped;
  }
}

/**
 * Parses the first line of a journal.
 *
 * @throws MeshError `store` if the file is not a journal
 */
export function parseJournalHeader(line: string, where: string): z.infer<typeof headerSchema> {
  try {
    return parseJsonLine(line, headerSchema, where);
  } catch (error) {
    throw new MeshError(
      'store',
      `${where}: this is not the journal of a batch, and is left unchanged: ${toErrorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Locks the batch with this journal for the current process.
 *
 * @param owner the process that may hold the lock, in words
 * @throws MeshError `locked` while another process holds it; `io` if the folder cannot be written
 */
export function lockBatch(journal: string, owner: string): FileLock {
  const file = `${journal}.lock`;
  return FileLock.take(
    file,
    (holder) =>
      `${owner} (process ${holder}) is writing there: wait for it, choose another --out, or delete ${file} if that process is gone`,
  );
}
