import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Store } from '../store.ts';
import { addDiagnosis, readAttempts, recordAttempt } from './attempts.ts';
import { createAnswerCache } from './cached-answers.ts';
import { createGapPool } from './gap-records.ts';
import type { SqlConnection, SqlDatabase } from './sql-database.ts';
import { prepareTables, type Tables } from './tables.ts';

/** The query builder's parts for each kind of database. */
const DIALECTS = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  },
  postgres: {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  },
} as const;

/**
 * Creates a store on either database, which it closes if it cannot use it.
 *
 * @throws MeshError `store`
 */
export async function createSqlStore(database: SqlDatabase, now = () => new Date()): Promise<Store> {
  const { location } = database;
  const db = buildQueries<Tables>(database);
  try {
    await prepareTables(db, database);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const context = { db, location, now };
  return {
    location,
    recordAttempt: (attempt) => recordAttempt(context, attempt),
    addDiagnosis: (attemptId, diagnosis) => addDiagnosis(context, attemptId, diagnosis),
    attempts: (filter) => readAttempts(context, filter),
    ...createGapPool(context),
    ...createAnswerCache(context),
    close: () => db.destroy(),
  };
}

/** Returns the query builder of a database, which it closes when it is destroyed. */
export function buildQueries<Schema>(database: SqlDatabase): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: { ...DIALECTS[database.kind], createDriver: () => new StoreDriver(database) },
  });
}

/**
 * Runs queries on either database. The query builder's own drivers are not used: the one for SQLite expects another package than
 * Node's, and neither retries, explains faults or closes a connection whose query failed.
 */
class StoreDriver implements Driver {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async init(): Promise<void> {
    // The database is open already.
  }

  async acquireConnection(): Promise<StoreConnection> {
    return new StoreConnection(await this.#database.connect());
  }

  /**
   * Begins a transaction. SQLite takes the lock for writing at once, because a transaction that reads first and writes later could
   * find that another process has written in between.
   */
  async beginTransaction(connection: StoreConnection): Promise<void> {
    await connection.run(this.#database.kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  }

  async commitTransaction(connection: StoreConnection): Promise<void> {
    await connection.run('COMMIT');
  }

  async rollbackTransaction(connection: StoreConnection): Promise<void> {
    // The failure that led here is the one to report. A second one means that the database has rolled back by itself.
    await connection.run('ROLLBACK').catch(() => undefined);
  }

  async releaseConnection(connection: StoreConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#database.close();
  }
}

class StoreConnection implements DatabaseConnection {
  readonly #connection: SqlConnection;

  constructor(connection: SqlConnection) {
    this.#connection = connection;
  }

  async run(statement: string): Promise<void> {
    await this.executeQuery(CompiledQuery.raw(statement));
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // The query builder derives the type of a row from the query, and the tables hold values of no other type.
    return { rows: (await this.#connection.query(sql, parameters)) as Row[] };
  }

  release(): void {
    this.#connection.release();
  }

  streamQuery(): AsyncIterableIterator<QueryResult<never>> {
    throw new Error('the store reads pages and does not stream');
  }
}
