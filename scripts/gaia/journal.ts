import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import * as z from 'zod';
import { MeshError, messageOf, systemCodeOf } from '../../core/errors.ts';
import { parseJsonLine } from '../../core/json-line.ts';
import { FileLock } from './file-lock.ts';
import { type GaiaResult, gaiaResultSchema } from './gaia-result.ts';

/** Version of the journal's format. */
const JOURNAL_VERSION = 1;

/** A longer line was not written by us: the texts of an attempt are bounded, at a few bytes a character. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

/** What must be the same for a batch to be gone on with, by name: questions, teams, adapter, engine, model, prompts, … */
export type Setup = Readonly<Record<string, string>>;

const headerSchema = z.strictObject({
  journal: z.literal(JOURNAL_VERSION),
  setup: z.record(z.string(), z.string()),
});

/** Which attempt: one question in one cycle by one team. */
export type ResultKey = Pick<GaiaResult, 'task_id' | 'team' | 'cycle'>;

/**
 * The results of a batch, one JSON line each, behind a line that says what the batch is. Lines are only ever added, each
 * in one write, so a process that is killed leaves whole lines and at most one torn one, which is dropped on resuming. Nothing is
 * held in memory but where each line is.
 */
export class Journal {
  readonly file: string;
  /** What reading it had to leave out: a line that was torn when the writer was killed. */
  readonly dropped: string | undefined;
  readonly #descriptor: number;
  readonly #lock: FileLock;
  readonly #lines = new Map<string, { readonly at: number; readonly bytes: number }>();
  #end = 0;

  private constructor(file: string, descriptor: number, lock: FileLock, setup: Setup) {
    this.file = file;
    this.#descriptor = descriptor;
    this.#lock = lock;
    this.dropped = this.#readAll(setup);
  }

  /**
   * Opens the journal of a batch. To resume goes on with what is there; else what is there is put aside as `<file>.previous`.
   *
   * @throws MeshError `usage` when it belongs to another set-up; `store` when a line in the middle is damaged;
   *   `locked` while another process writes it; `io`
   */
  static open(file: string, setup: Setup, { resume }: { readonly resume: boolean }): Journal {
    const lock = FileLock.take(`${file}.lock`, 'another batch');
    let descriptor: number | undefined;
    try {
      if (!resume && existsSync(file)) renameSync(file, `${file}.previous`);
      descriptor = openSync(file, existsSync(file) ? 'r+' : 'w+');
      return new Journal(file, descriptor, lock, setup);
    } catch (error) {
      if (descriptor !== undefined) closeSync(descriptor);
      lock.release();
      if (error instanceof MeshError) throw error;
      throw new MeshError('io', `journal ${file}: ${messageOf(error)}`, { cause: error });
    }
  }

  get size(): number {
    return this.#lines.size;
  }

  has(key: ResultKey): boolean {
    return this.#lines.has(keyText(key));
  }

  /**
   * Writes a result down: it is in the file when the call returns, and survives the end of this process.
   *
   * @throws MeshError `io` when the disk is full: nothing can be finished any more
   */
  append(result: GaiaResult): void {
    const key = keyText(result);
    // A bug of the batch, which would be paid for twice.
    if (this.#lines.has(key)) throw new Error(`result ${key} is in the journal already`);
    this.#lines.set(key, this.#write(`${JSON.stringify(result)}\n`));
  }

  /** The result, read from the file; undefined where it is not finished. */
  read(key: ResultKey): GaiaResult | undefined {
    const line = this.#lines.get(keyText(key));
    if (line === undefined) return undefined;
    const bytes = Buffer.alloc(line.bytes);
    this.#fill(bytes, line.at);
    return parseJsonLine(bytes.toString('utf8'), gaiaResultSchema, this.file);
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
      const full = systemCodeOf(error) === 'ENOSPC' ? 'the disk is full' : messageOf(error);
      throw new MeshError('io', `journal ${this.file}: ${full}: what was finished before is kept`, {
        cause: error,
      });
    }
    this.#end = at + bytes.length;
    return { at, bytes: bytes.length };
  }

  #fill(into: Buffer, at: number): number {
    let filled = 0;
    while (filled < into.length) {
      const read = readSync(this.#descriptor, into, filled, into.length - filled, at + filled);
      if (read === 0) break;
      filled += read;
    }
    return filled;
  }

  #readAll(setup: Setup): string | undefined {
    const header = `${JSON.stringify({ journal: JOURNAL_VERSION, setup })}\n`;
    let dropped: string | undefined;
    for (const { text, at, bytes, number, isLast, isWhole } of this.#readLines()) {
      const where = `${this.file}:${number}`;
      if (number === 1) {
        // Killed within the first write. Anything else that begins otherwise is a file of somebody else's.
        if (!isWhole && header.startsWith(text)) break;
        checkSetup(this.file, headerOf(text, where).setup, setup);
      } else {
        const result = isWhole ? resultIn(text, where) : 'the line is not whole';
        if (typeof result === 'string') {
          if (!isLast) throw damaged(where, result);
          dropped = `${where}: the last line was torn when the run before ended: that question is asked again`;
          break;
        }
        this.#lines.set(keyText(result), { at, bytes });
      }
      this.#end = at + bytes;
    }
    // What comes next must begin a line of its own.
    ftruncateSync(this.#descriptor, this.#end);
    if (this.#end === 0) this.#write(header);
    return dropped;
  }

  /** The lines with where they are; the last one is not whole if no line feed ends it. */
  *#readLines(): Generator<{
    text: string;
    at: number;
    bytes: number;
    number: number;
    isLast: boolean;
    isWhole: boolean;
  }> {
    const { size } = fstatSync(this.#descriptor);
    let begun = Buffer.alloc(0);
    let at = 0;
    let number = 0;
    for (let offset = 0; offset < size; ) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, size - offset));
      this.#fill(chunk, offset);
      offset += chunk.length;
      begun = Buffer.concat([begun, chunk]);
      for (let feed = begun.indexOf(0x0a); feed >= 0; feed = begun.indexOf(0x0a)) {
        const bytes = feed + 1;
        const text = begun.toString('utf8', 0, feed);
        begun = begun.subarray(bytes);
        number += 1;
        yield { text, at, bytes, number, isLast: at + bytes === size, isWhole: true };
        at += bytes;
      }
      if (begun.length > MAX_LINE_BYTES)
        throw damaged(`${this.file}:${number + 1}`, `longer than ${MAX_LINE_BYTES} bytes`);
    }
    if (begun.length > 0) {
      const text = begun.toString('utf8');
      yield { text, at, bytes: begun.length, number: number + 1, isLast: true, isWhole: false };
    }
  }
}

function headerOf(line: string, where: string): z.infer<typeof headerSchema> {
  try {
    return parseJsonLine(line, headerSchema, where);
  } catch (error) {
    throw new MeshError(
      'store',
      `${where}: this is no journal of a batch, and is left as it is: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** The result, or what is wrong with the line. */
function resultIn(line: string, where: string): GaiaResult | string {
  try {
    return parseJsonLine(line, gaiaResultSchema, where);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return error.message;
  }
}

function damaged(where: string, what: string): MeshError {
  return new MeshError(
    'store',
    `the journal is damaged at ${where} (${what}): mend or delete that line, or begin anew without --resume`,
  );
}

function keyText({ team, cycle, task_id }: ResultKey): string {
  return JSON.stringify([team, cycle, task_id]);
}

function checkSetup(file: string, then: Setup, now: Setup): void {
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])].sort();
  const changed = names.filter((name) => then[name] !== now[name]);
  if (changed.length === 0) return;
  const shown = (value: string | undefined) => (value === undefined ? 'none' : value.slice(0, 60));
  const list = changed
    .map((name) => `${name}: ${shown(then[name])} then, ${shown(now[name])} now`)
    .join('; ');
  throw new MeshError(
    'usage',
    `--resume: ${file} was begun with another set-up (${list}): ask for the same again, or begin anew without --resume`,
  );
}
