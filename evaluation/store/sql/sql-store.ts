import { createHash } from 'node:crypto';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import {
  attemptSchema,
  gapRecordSchema,
  type RecordedAttempt,
  storable,
  toStorable,
} from '@gaia-mesh/tools/roles/memory/attempt.ts';
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
  sql,
} from 'kysely';
import * as z from 'zod';
import { answerUseSchema } from '../answer-use.ts';
import type { CacheKey, Store } from '../store.ts';
import { createGapPool } from './gap-records.ts';
import type { SqlConnection, SqlDatabase } from './sql-database.ts';
import { parseJsonCell, parseStorable, prepareTables, type StoreContext, type Tables } from './tables.ts';

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
    attempts: (after) => readAttempts(context, after),
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

/** Stores an attempt, and returns its number. In a transaction it is stored together with the transaction's other changes. */
async function recordAttempt({ db, location, now }: StoreContext, given: unknown): Promise<number> {
  const attempt = parseStorable(attemptSchema, given, 'an attempt');
  const { attempt_id, run_id, team, task_id } = attempt;
  const question_hash = createHash('sha256').update(attempt.question).digest('hex');
  const insert = db
    .insertInto('gaia_attempts')
    .values(({ selectFrom }) => ({
      attempt_id,
      run_id,
      team,
      task_id,
      question_hash,
      attempt_number: selectFrom('gaia_attempts')
        .select(sql<number>`coalesce(max(attempt_number), 0) + 1`.as('next'))
        .where('team', '=', team)
        .where('task_id', '=', task_id)
        .where('question_hash', '=', question_hash),
      created_at: now().toISOString(),
      record: JSON.stringify(attempt),
    }))
    .onConflict((conflict) => conflict.doNothing())
    .returning('attempt_number');
  for (let tries = 0; tries < STORE_LIMITS.numberingTries; tries++) {
    const inserted = await insert.executeTakeFirst();
    if (inserted !== undefined) return inserted.attempt_number;
    // Another process took the number at the same moment, or the id exists.
    const same = await db
      .selectFrom('gaia_attempts')
      .select('created_at')
      .where('attempt_id', '=', attempt_id)
      .executeTakeFirst();
    if (same !== undefined) {
      throw new MeshError(
        'store',
        `${location}: attempt ${attempt_id} was recorded already, at ${same.created_at}`,
      );
    }
  }
  throw new MeshError(
    'store',
    `${location}: attempt ${attempt_id} got no number in ${STORE_LIMITS.numberingTries} tries: too many processes record attempts at task ` +
      `${task_id} at once`,
  );
}

/** Adds the overseer's diagnosis to an attempt; both are one record. */
async function addDiagnosis(
  { db, location }: StoreContext,
  attemptId: string,
  diagnosis: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('gaia_attempts')
      .select('record')
      .where('attempt_id', '=', attemptId)
      .executeTakeFirst();
    if (row === undefined)
      throw new MeshError(
        'store',
        `${location}: a diagnosis of attempt ${attemptId}, which is not recorded: record it first`,
      );
    const recorded = parseJsonCell(attemptSchema, row.record, { location, table: 'gaia_attempts' });
    const attempt = parseStorable(
      attemptSchema,
      { ...recorded, overseer_diagnosis: diagnosis },
      'an attempt',
    );
    await tx
      .updateTable('gaia_attempts')
      .set({ record: JSON.stringify(attempt) })
      .where('attempt_id', '=', attemptId)
      .execute();
  });
}

async function readAttempts({ db, location }: StoreContext, after = 0): Promise<RecordedAttempt[]> {
  const rows = await db
    .selectFrom('gaia_attempts')
    .select(['id', 'attempt_number', 'created_at', 'record'])
    .select(({ selectFrom }) =>
      selectFrom('gap_records')
        .select('gap_records.record')
        .whereRef('gap_records.attempt_id', '=', 'gaia_attempts.attempt_id')
        .orderBy('gap_records.id', 'desc')
        .limit(1)
        .as('gap_record'),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(STORE_LIMITS.attemptsPerPage)
    .execute();
  return rows.map(({ id, attempt_number, created_at, record, gap_record }) => ({
    ...parseJsonCell(attemptSchema, record, { location, table: 'gaia_attempts' }),
    id,
    attempt_number,
    created_at,
    gap_record: parseJsonCell(gapRecordSchema.nullable(), gap_record, { location, table: 'gap_records' }),
  }));
}

/** Answers per import statement: 4,000 of at most 32,766 parameters that SQLite accepts. */
const IMPORT_BATCH = 500;

const entrySchema = z.strictObject({
  key: z.strictObject({
    question: storable.question,
    fileHash: storable.id.nullable(),
    team: storable.name,
    model: storable.name,
    promptVersion: storable.id,
  }),
  answer: storable.text.refine((answer) => answer.trim() !== '', 'must not be empty'),
  took: answerUseSchema.nullable(),
});

/**
 * Returns the SHA-256 of all parts in hex. They are hashed as a JSON list, because different keys could have the same
 * concatenation.
 */
function hashCacheKey({ question, fileHash, team, model, promptVersion }: CacheKey): string {
  const parts = JSON.stringify([question, fileHash, team, model, promptVersion]);
  return createHash('sha256').update(parts).digest('hex');
}

type AnswerCache = Pick<Store, 'cachedAnswer' | 'cacheAnswer' | 'exportCache' | 'importCache'>;

/** Implements the part of {@link Store} on the table `cached_answers`. */
function createAnswerCache({ db, location, now }: StoreContext): AnswerCache {
  const toRow = (key: CacheKey, given: string, use: z.infer<typeof answerUseSchema> | null) => {
    const entry = { key, answer: given, took: use };
    const { answer, took, ...storable } = parseStorable(entrySchema, entry, 'an answer for the cache');
    return {
      cache_key: hashCacheKey(key),
      question: storable.key.question,
      team: storable.key.team,
      model: storable.key.model,
      prompt_version: storable.key.promptVersion,
      answer,
      took: took === null ? null : JSON.stringify(took),
      created_at: now().toISOString(),
    };
  };
  return {
    async cachedAnswer(key) {
      const found = await db
        .selectFrom('cached_answers')
        .select(['answer', 'created_at', 'took'])
        .where('cache_key', '=', hashCacheKey(key))
        .executeTakeFirst();
      if (found === undefined) return undefined;
      const table = { location, table: 'cached_answers' } as const;
      return { ...found, took: parseJsonCell(answerUseSchema.nullable(), found.took, table) };
    },

    async cacheAnswer(key, answer, took) {
      const row = toRow(key, answer, took ?? null);
      await db
        .insertInto('cached_answers')
        .values(row)
        .onConflict((conflict) => conflict.column('cache_key').doUpdateSet(row))
        .execute();
    },

    async exportCache({ team, model, promptVersion } = {}) {
      let query = db
        .selectFrom('cached_answers')
        .select(['question', 'answer'])
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(STORE_LIMITS.cacheEntries);
      if (team !== undefined) query = query.where('team', '=', toStorable(team));
      if (model !== undefined) query = query.where('model', '=', toStorable(model));
      if (promptVersion !== undefined) query = query.where('prompt_version', '=', toStorable(promptVersion));
      return new Map((await query.execute()).reverse().map(({ question, answer }) => [question, answer]));
    },

    async importCache(answers, keyOf) {
      if (answers.size > STORE_LIMITS.cacheEntries) {
        throw new MeshError(
          'store',
          `${answers.size} answers to import, more than ${STORE_LIMITS.cacheEntries}: split the file`,
        );
      }
      const rows = [...answers].map(([question, answer]) => toRow(keyOf(question), answer, null));
      return db.transaction().execute(async (tx) => {
        let added = 0;
        for (let start = 0; start < rows.length; start += IMPORT_BATCH) {
          const inserted = await tx
            .insertInto('cached_answers')
            .values(rows.slice(start, start + IMPORT_BATCH))
            .onConflict((conflict) => conflict.column('cache_key').doNothing())
            .returning('id')
            .execute();
          added += inserted.length;
        }
        return added;
      });
    },
  };
}
