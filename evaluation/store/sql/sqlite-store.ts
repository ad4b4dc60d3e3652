import { closeSync, readSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import * as z from 'zod';
import { BUSY_TIMEOUT_MS } from '../limits.ts';
import { setAside, type Warn } from './set-aside.ts';
import {
  checkSchemaVersion,
  type Row,
  type SqlDatabase,
  type SqlValue,
  type Statement,
} from './sql-database.ts';
import { listSchemaSteps } from './sql-schema.ts';
import { BLOCKING_MS, Corrupt, Patience, readSqliteCode } from './sqlite-patience.ts';

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

export const sqliteSteps: readonly string[] = listSchemaSteps({
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  json: 'TEXT',
  boolean: 'INTEGER',
  wholeNumber: 'INTEGER',
  number: 'REAL',
  time: 'TEXT',
  tableEnd: ' STRICT',
  protect: () => '',
  gapIndex: `
    CREATE VIRTUAL TABLE gap_terms USING fts5(terms, content = 'gap_records', content_rowid = 'id');
    CREATE TRIGGER gap_records_indexed AFTER INSERT ON gap_records BEGIN
      INSERT INTO gap_terms (rowid, terms) VALUES (new.id, new.terms);
    END;`,
});

interface SqliteOptions {
  readonly warn: Warn;
  /** Milliseconds for which a busy file is retried. */
  readonly busyTimeoutMs?: number | undefined;
}

/**
 * Opens an SQLite file, and creates it if it is missing. A corrupt store is renamed to `<file>.corrupt-<n>`, the user is warned,
 * and a new one is created. A file that never was a store is left alone.
 *
 * @throws MeshError `store`
 */
export async function openSqlite(file: string, options: SqliteOptions): Promise<SqlDatabase> {
  const patience = new Patience(file, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS);
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
      throw new MeshError('store', `${file}: its folder cannot be created: ${toErrorMessage(error)}`, {
        cause: error,
      });
  }
  const database = (await openWhole(file, patience)) ?? (await replaceCorrupt(file, patience, options.warn));
  return new SqliteDatabase(file, database, patience);
}

/** Checks Node's permission model, which SQLite's own writes bypass. */
function canWrite(file: string): boolean {
  return process.permission?.has('fs.write', file) ?? true;
}

class SqliteDatabase implements SqlDatabase {
  readonly location: string;
  readonly #database: DatabaseSync;
  readonly #patience: Patience;

  constructor(file: string, database: DatabaseSync, patience: Patience) {
    this.location = file;
    this.#database = database;
    this.#patience = patience;
  }

  termSearch(condition: string): string {
    return (
      'SELECT id FROM gap_terms JOIN gap_records ON id = gap_terms.rowid ' +
      `WHERE gap_terms MATCH $1 AND ${condition} ORDER BY bm25(gap_terms), id DESC`
    );
  }

  /** In quotes a term is a string for FTS5, never an operator. Without terms the phrase is empty and matches nothing. */
  anyOf(terms: readonly string[]): string {
    return terms.length === 0 ? '""' : terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ');
  }

  read(statement: Statement): Promise<Row[]> {
    return this.#patience.with(() => run(this.#database, statement));
  }

  write(statements: readonly Statement[]): Promise<Row[][]> {
    return this.#patience.with(() =>
      runTransaction(this.#database, 'IMMEDIATE', () =>
        statements.map((statement) => run(this.#database, statement)),
      ),
    );
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function run(database: DatabaseSync, { text, values }: Statement): Row[] {
  // Here `$1` would be a name; `?1` is the number.
  const parameters: Exclude<SqlValue, boolean>[] = values.map((value) =>
    typeof value === 'boolean' ? Number(value) : value,
  );
  return database.prepare(text.replace(/\$(\d+)/g, '?$1')).all(...parameters);
}

/**
 * Runs a transaction. The lock is taken at the beginning, because a transaction that reads first and writes later could find that
 * another has written in between.
 */
function runTransaction<T>(database: DatabaseSync, kind: 'IMMEDIATE' | 'EXCLUSIVE', work: () => T): T {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Some errors have rolled back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Opens the database in `file`, checked and of the current version; undefined if the file is corrupt. */
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
    const [row] = run(database, { text: 'PRAGMA quick_check(1)', values: [] });
    if (row?.quick_check !== 'ok') throw new Corrupt(String(row?.quick_check));
  } catch (error) {
    // A journal left by a killed process has to be replayed first, which requires writing.
    if (readSqliteCode(error) !== READ_ONLY) throw error;
  } finally {
    database.close();
  }
}

const markRow = z.object({ application_id: z.int() });
const versionRow = z.object({ version: z.int() });
const tablesRow = z.object({ tables: z.int(), own: z.int() });

function prepare(database: DatabaseSync, file: string): void {
  // An up-to-date file is opened without a lock, so that a busy writer does not keep others from reading.
  if (readVersion(database, file) === sqliteSteps.length && isMarked(database)) return;
  // The id is set before anything else, so that it is in the file itself and not in the log beside it.
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  // With WAL, readers and the writer do not wait for each other, and committed data survives the end of the process. The file
  // remembers the mode.
  database.exec('PRAGMA journal_mode = WAL');
  runTransaction(database, 'IMMEDIATE', () => {
    const version = readVersion(database, file);
    if (version === undefined) {
      database.exec(
        'CREATE TABLE store_schema (version INTEGER NOT NULL) STRICT; INSERT INTO store_schema VALUES (0)',
      );
    }
    for (const step of sqliteSteps.slice(version ?? 0)) database.exec(step);
    run(database, { text: 'UPDATE store_schema SET version = $1', values: [sqliteSteps.length] });
  });
}

function isMarked(database: DatabaseSync): boolean {
  const [row] = run(database, { text: 'PRAGMA application_id', values: [] });
  return markRow.parse(row).application_id === APPLICATION_ID;
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

/** Returns the schema version; undefined for an empty file. */
function readVersion(database: DatabaseSync, file: string): number | undefined {
  // One query, since another process may create the tables between two.
  const { tables, own } = tablesRow.parse(
    run(database, {
      text: "SELECT count(*) AS tables, count(*) FILTER (WHERE name = 'store_schema') AS own FROM sqlite_master",
      values: [],
    })[0],
  );
  if (own === 0) {
    if (tables === 0) return undefined;
    throw new MeshError(
      'store',
      `${file} is the database of another program: name another file for the store`,
    );
  }
  const { version } = versionRow.parse(
    run(database, { text: 'SELECT version FROM store_schema', values: [] })[0],
  );
  checkSchemaVersion(version, sqliteSteps.length, file);
  return version;
}

/**
 * Sets the corrupt file aside and creates a new one. Several processes may find it corrupt at the same time, and only the first
 * must move it, since the next would move the new one away. They take turns by a lock that ends with its process.
 */
async function replaceCorrupt(file: string, patience: Patience, warn: Warn): Promise<DatabaseSync> {
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
