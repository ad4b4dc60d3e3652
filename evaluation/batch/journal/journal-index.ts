import { fstatSync, readSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { readByteLines } from '../../questions/text-lines.ts';
import { type GaiaResult, gaiaResultSchema } from '../../results/gaia-result.ts';

/** Maximum bytes of a line. Ours are shorter: the texts of an attempt are bounded, at a few bytes a character. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** The key of an attempt: one question in one cycle by one team. */
export type ResultKey = Pick<GaiaResult, 'task_id' | 'team' | 'cycle'>;

/** Positions of a journal's results in its file. Only these are held in memory. */
export class JournalIndex {
  readonly file: string;
  readonly #descriptor: number;
  readonly #lines = new Map<string, { readonly at: number; readonly bytes: number }>();
  /** The timeouts after the last other result. */
  #lastTimeouts: { readonly key: string; readonly at: number }[] = [];

  constructor(file: string, descriptor: number) {
    this.file = file;
    this.#descriptor = descriptor;
  }

  get size(): number {
    return this.#lines.size;
  }

  has(key: ResultKey): boolean {
    return this.#lines.has(formatResultKey(key));
  }

  set(result: ResultKey & Pick<GaiaResult, 'status'>, at: number, bytes: number): void {
    const key = formatResultKey(result);
    this.#lines.set(key, { at, bytes });
    if (result.status === 'timeout') this.#lastTimeouts.push({ key, at });
    else if (this.#lastTimeouts.length > 0) this.#lastTimeouts = [];
  }

  /**
   * Forgets the timeouts after the last other result, so that their questions are asked again: nothing shows that a server or an
   * agent still worked then.
   *
   * @returns where the first of them begins in the file, if there is one
   */
  forgetLastTimeouts(): number | undefined {
    const [first] = this.#lastTimeouts;
    for (const { key } of this.#lastTimeouts) this.#lines.delete(key);
    this.#lastTimeouts = [];
    return first?.at;
  }

  /** Reads a result from the file, or returns undefined if the attempt is not finished. */
  read(key: ResultKey): GaiaResult | undefined {
    const line = this.#lines.get(formatResultKey(key));
    if (line === undefined) return undefined;
    const bytes = Buffer.alloc(line.bytes);
    this.#fill(bytes, line.at);
    return parseJsonLine(bytes.toString('utf8'), gaiaResultSchema, this.file);
  }

  /**
   * Indexes the results in the file.
   *
   * @param takesHeader receives the first line and returns whether to read on
   * @returns the end of the last whole line, and a notice about a line that was torn when the writer was killed
   * @throws MeshError `store` if a line in the middle is damaged
   */
  load(takesHeader: (line: string, isWhole: boolean, where: string) => boolean): {
    end: number;
    dropped: string | undefined;
  } {
    let end = 0;
    const { size } = fstatSync(this.#descriptor);
    const tooLong = (number: number) =>
      createDamageError(`${this.file}:${number}`, `longer than ${MAX_LINE_BYTES} bytes`);
    const lines = readByteLines(this.#descriptor, { maxBytes: MAX_LINE_BYTES, tooLong, end: size });
    for (const { bytes: line, at, number, isWhole } of lines) {
      const text = line.toString('utf8');
      const bytes = line.length + (isWhole ? 1 : 0);
      const where = `${this.file}:${number}`;
      if (number === 1) {
        if (!takesHeader(text, isWhole, where)) break;
      } else {
        const result = isWhole ? parseResultLine(text, where) : 'the line is not whole';
        if (typeof result === 'string') {
          if (at + bytes < size) throw createDamageError(where, result);
          return {
            end,
            dropped: `${where}: the last line was cut off when the earlier run ended: its question is asked again`,
          };
        }
        this.set(result, at, bytes);
      }
      end = at + bytes;
    }
    return { end, dropped: undefined };
  }

  #fill(into: Buffer, at: number): void {
    for (let filled = 0; filled < into.length; ) {
      const read = readSync(this.#descriptor, into, filled, into.length - filled, at + filled);
      if (read === 0) break;
      filled += read;
    }
  }
}

/** Returns the result, or the reason why the line is not one. */
function parseResultLine(line: string, where: string): GaiaResult | string {
  try {
    return parseJsonLine(line, gaiaResultSchema, where);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return error.message;
  }
}

function createDamageError(where: string, what: string): MeshError {
  return new MeshError(
    'store',
    `the journal is damaged at ${where} (${what}): repair or delete that line, or start over without --resume`,
  );
}

export function formatResultKey({ team, cycle, task_id }: ResultKey): string {
  return JSON.stringify([team, cycle, task_id]);
}
