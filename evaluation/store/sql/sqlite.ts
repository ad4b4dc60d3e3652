import { closeSync, readSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { explainWriteFault } from '@gaia-mesh/core/system/files/whole-file.ts';
import * as z from 'zod';
import type { StoreOptions } from '../store.ts';
import { setAside } from './set-aside.ts';
import type { SqlConnection, SqlDatabase } from './sql-database.ts';

/** Milliseconds for which SQLite may block the process; between two tries other work gets its turn. */
const BLOCKING_MS = 50;
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

// Result codes of SQLite (https://sqlite.org/rescode.html).
const READ_ONLY = 8;
const CANNOT_OPEN = 14;

/**
 * The application id "Gaia" in the header of every store, which identifies even a damaged one
 * (https://sqlite.org/fileformat2.html).
 */
const APPLICATION_ID = 0x47616961;
const APPLICATION_ID_OFFSET = 68;
const SQLITE_HEADER = 'SQLite format 3\0';

/**
 * Opens an SQLite file, and creates it if it is missing. A corrupt store is renamed to `<file>.corrupt-<n>`, the user is warned,
 * and a new one is created. A file that never was a store is left alone.
 *
 * @throws MeshError `store`
 */
export async function openSqlite(file: string, options: StoreOptions): Promise<SqlDatabase> {
  const patience = new Patience(file, options.busyTimeoutMs ?? STORE_LIMITS.busyTimeoutMs);
  // SQLite itself ignores the permission model.
  if (!canWrite(file))
    throw new MeshError(
      'store',
      `${file}: this process may not write to its folder (Node's permission model)`,
    );
  try {
    makeFolder(path.dirname(file));
  } catch (error) {
    // An agent may be permitted to use the folder's files, but not the folder itself.
    if (readSystemCode(error) !== 'ERR_ACCESS_DENIED')
      throw new MeshError('store', `${file}: its folder cannot be created: ${explainWriteFault(error)}`, {
        cause: error,
      });
  }
  const database = (await openWhole(file, patience)) ?? (await replaceCorrupt(file, patience, options.warn));
  const connection: SqlConnection = {
    query: (text, parameters) =>
      patience.with(() => database.prepare(text).all(...z.array(parameterSchema).parse(parameters))),
    // A file has one connection, which stays open.
    release: () => undefined,
  };
  return {
    kind: 'sqlite',
    location: file,
    connect: async () => connection,
    close: async () => database.close(),
  };
}

/** The values that the store gives to statements. */
const parameterSchema = z.union([z.string(), z.number(), z.null()]);

/** Checks Node's permission model, which SQLite's own writes bypass. */
function canWrite(file: string): boolean {
  return process.permission?.has('fs.write', file) ?? true;
}

/** Opens the database in `file`, checked and marked; undefined if the file is corrupt. */
async function openWhole(file: string, patience: Patience): Promise<DatabaseSync | undefined> {
  try {
    return await patience.with(() => {
      check(file);
      const database = new DatabaseSync(file, { timeout: BLOCKING_MS });
      try {
        prepare(database, file);
        return database;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof MeshError && error.cause instanceof Corrupt) return undefined;
    throw error;
  }
}

/**
 * Checks a file over a read-only connection. The last connection that closes a writable file deletes the log beside it by name:
 * once another process has set the corrupt file aside, that is the log of the new one.
 */
function check(file: string): void {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: BLOCKING_MS });
  } catch (error) {
    // The file is missing, or this process may not read it: opening it for writing will tell.
    if (readSqliteCode(error) === CANNOT_OPEN) return;
    throw error;
  }
  try {
    const row = database.prepare('PRAGMA quick_check(1)').get();
    if (row?.quick_check !== 'ok') throw new Corrupt(String(row?.quick_check));
  } catch (error) {
    // A journal left by a killed process has to be replayed first, which requires writing.
    if (readSqliteCode(error) !== READ_ONLY) throw error;
  } finally {
    database.close();
  }
}

const headerSchema = z.object({ application_id: z.int(), tables: z.int() });

/** Marks an empty file as a store. */
function prepare(database: DatabaseSync, file: string): void {
  // This is one query, since another process may create the tables between two queries.
  const header = database
    .prepare(
      'SELECT application_id, (SELECT count(*) FROM sqlite_master) AS tables FROM pragma_application_id',
    )
    .get();
  const { application_id, tables } = headerSchema.parse(header);
  if (application_id !== APPLICATION_ID) {
    if (tables > 0) {
      throw new MeshError(
        'store',
        `${file} is the database of another program: name another file for the store`,
      );
    }
    // The id is set before anything else, so that it is in the file itself and not in the log beside it.
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  }
  // With WAL, readers and the writer do not wait for each other, and committed data survives the end of the process. The file
  // remembers the mode.
  database.exec('PRAGMA journal_mode = WAL');
}

/** Tells if a file begins as a store does, whatever its state. */
function isStoreFile(file: string): boolean {
  const header = Buffer.alloc(APPLICATION_ID_OFFSET + 4);
  const descriptor = openUserFile(file, { what: 'store', code: 'store' });
  try {
    readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  return (
    header.toString('latin1', 0, SQLITE_HEADER.length) === SQLITE_HEADER &&
    header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID
  );
}

/**
 * Sets the corrupt file aside and creates a new one. Several processes may find it corrupt at the same time, and only the first
 * must move it, since the next would move the new one away. They take turns by a lock that ends with its process.
 */
async function replaceCorrupt(
  file: string,
  patience: Patience,
  warn: StoreOptions['warn'],
): Promise<DatabaseSync> {
  const turns = new DatabaseSync(`${file}.repair`, { timeout: BLOCKING_MS });
  try {
    await patience.with(() => turns.exec('BEGIN EXCLUSIVE'));
    const mended = await openWhole(file, patience);
    if (mended !== undefined) return mended;
    if (!isStoreFile(file)) {
      rmSync(`${file}.repair`, { force: true });
      throw new MeshError(
        'store',
        `${file} is not a store of Gaia Mesh, and is left unchanged: name another file for the store, or move this one away`,
      );
    }
    const aside = setAside(file, ['-wal', '-shm']);
    warn(`${file} is corrupt: it was set aside as ${aside}, and a new store begun`);
    const begun = await openWhole(file, patience);
    if (begun === undefined)
      throw new MeshError('store', `${file} is corrupt again right after it was created: check the disk`);
    return begun;
  } finally {
    turns.close();
  }
}

/** A fault found by `quick_check`, or reported by SQLite's own error codes. */
class Corrupt extends Error {}

/** Retries while other processes hold the file, and explains all other errors. */
class Patience {
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

function readSqliteCode(error: unknown): number | undefined {
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
