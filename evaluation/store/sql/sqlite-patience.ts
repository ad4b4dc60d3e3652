import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';

/** Milliseconds for which SQLite may block the process; between two tries other work gets its turn. */
export const BLOCKING_MS = 50;
const PAUSE_MS = 20;
/**
 * Time for which faults caused by another process that sets a file aside are retried. Faults that last longer are the disk's, or
 * the path's.
 */
const PASSING_MS = 1000;

// Result codes of SQLite (https://sqlite.org/rescode.html); the low byte is the primary one.
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** A fault found by `quick_check`, or reported by SQLite's own error codes. */
export class Corrupt extends Error {}

/** Retries while other processes hold the file, and explains all other errors. */
export class Patience {
  readonly #file: string;
  readonly #timeoutMs: number;

  constructor(file: string, timeoutMs: number) {
    this.#file = file;
    this.#timeoutMs = timeoutMs;
  }

  async with<T>(work: () => T): Promise<T> {
    const start = performance.now();
    for (;;) {
      try {
        return work();
      } catch (error) {
        const code = readSqliteCode(error);
        const locked = code === BUSY || code === LOCKED;
        const patienceMs = locked ? this.#timeoutMs : Math.min(PASSING_MS, this.#timeoutMs);
        const over = performance.now() - start >= patienceMs;
        // While another process sets a corrupt file aside, SQLite cannot find the file it just saw under that name
        // (SQLITE_IOERR_FSTAT), or finds the log shorter than it was (SQLITE_IOERR_SHORT_READ).
        const passes = locked || code === IO_ERROR;
        if (!passes || (over && !locked)) throw explainSqliteError(error, code, this.#file);
        if (over) {
          throw new MeshError(
            'store',
            `${this.#file} was locked by another process for more than ${this.#timeoutMs / 1000} s: end the program that holds ` +
              'it (a backup, a database browser, a stopped run), or name another store',
            { cause: error },
          );
        }
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

const sqliteError = z.object({ code: z.literal('ERR_SQLITE_ERROR'), errcode: z.int() });

export function readSqliteCode(error: unknown): number | undefined {
  const parsed = sqliteError.safeParse(error);
  return parsed.success ? parsed.data.errcode & 0xff : undefined;
}

function explainSqliteError(error: unknown, code: number | undefined, file: string): unknown {
  if (code === CORRUPT || code === NOT_A_DATABASE || error instanceof Corrupt) {
    const cause = error instanceof Corrupt ? error : new Corrupt(toErrorMessage(error), { cause: error });
    return new MeshError(
      'store',
      `${file} is corrupt (${toErrorMessage(error)}): end the run, it is set aside at the next start`,
      {
        cause,
      },
    );
  }
  if (readSystemCode(error) === 'ERR_ACCESS_DENIED') {
    return new MeshError(
      'store',
      `${file}: this process may not open it (Node's permission model): allow it to read and write the folder`,
      {
        cause: error,
      },
    );
  }
  // An error that is not SQLite's is a bug of ours, or a MeshError already.
  if (code === undefined) return error;
  return new MeshError(
    'store',
    `${file}: ${toErrorMessage(error)}: check that the disk has room and that the file and its folder may be written`,
    {
      cause: error,
    },
  );
}
