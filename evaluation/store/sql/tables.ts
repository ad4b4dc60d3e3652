import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import type { StoredGapRecord } from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import { type ColumnDefinitionBuilder, type ColumnType, type Generated, type Kysely, sql } from 'kysely';
import type * as z from 'zod';
import type { SqlDatabase } from './sql-database.ts';

/**
 * The version of the tables. A change of them raises it, and adds a step to {@link prepareTables} that brings an older store to it.
 * Versions 1 to 4 had a column for each field of a record; no release wrote them.
 */
const SCHEMA_VERSION = 5;

/**
 * Key of the advisory lock under which Postgres' tables are created, so that processes that open an empty database at once take
 * turns. Any number will do, provided that all versions use the same.
 */
const SCHEMA_LOCK = 4_213_657_001;

/** JSON is written as text. SQLite returns the text, Postgres the value. */
type Json<Text = string> = ColumnType<unknown, Text, Text>;

/** The tables of the store. A record is kept whole as JSON; beside it stand the columns that queries need. */
export interface Tables {
  gaia_attempts: {
    id: Generated<number>;
    attempt_id: string;
    run_id: string;
    team: string;
    task_id: string;
    /** The SHA-256 of the question, which is too long for an index. */
    question_hash: string;
    /** 1 for the team's first attempt at the question. */
    attempt_number: number;
    created_at: string;
    record: Json;
  };
  gap_records: {
    id: Generated<number>;
    /** Null if a person wrote the record. */
    attempt_id: string | null;
    question_type: string;
    kind: string;
    status: StoredGapRecord['status'];
    /** The distinct words of the record and its question, joined by spaces. */
    terms: string;
    created_at: string;
    record: Json;
  };
  /** The words of all gap records, which find them by the words of a question. */
  gap_terms: {
    term: string;
    gap_id: number;
  };
  cached_answers: {
    id: Generated<number>;
    cache_key: string;
    question: string;
    team: string;
    model: string;
    prompt_version: string;
    answer: string;
    /** The use of resources by the answer; null if it is not known. */
    took: Json<string | null>;
    created_at: string;
  };
  store_schema: {
    version: number;
  };
}

/** The context of every query. In a transaction, `db` is the transaction. */
export interface StoreContext {
  readonly db: Kysely<Tables>;
  readonly location: string;
  readonly now: () => Date;
}

/**
 * Creates the tables of an empty database. Tables of another version are refused, because this version would misread or damage them.
 *
 * @throws MeshError `store`
 */
export async function prepareTables(
  db: Kysely<Tables>,
  { kind, location }: Pick<SqlDatabase, 'kind' | 'location'>,
): Promise<void> {
  const found = await readVersion(db, kind);
  if (found !== undefined) {
    checkVersion(found, location);
    return;
  }
  await db.transaction().execute(async (tx) => {
    // SQLite's transaction holds the only lock for writing already.
    if (kind === 'postgres') await sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`.execute(tx);
    const created = await readVersion(tx, kind);
    if (created === undefined) await createTables(tx, kind);
    else checkVersion(created, location);
  });
}

const FIND_SCHEMA = {
  sqlite: sql`SELECT name FROM sqlite_master WHERE name = 'store_schema'`,
  postgres: sql`SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'store_schema'`,
} as const;

/** Returns the version of the tables; undefined for a database without them. */
async function readVersion(db: Kysely<Tables>, kind: SqlDatabase['kind']): Promise<number | undefined> {
  const { rows } = await FIND_SCHEMA[kind].execute(db);
  if (rows.length === 0) return undefined;
  const { version } = await db.selectFrom('store_schema').select('version').executeTakeFirstOrThrow();
  return Number(version);
}

function checkVersion(version: number, location: string): void {
  if (version === SCHEMA_VERSION) return;
  throw new MeshError(
    'store',
    version > SCHEMA_VERSION
      ? `${location} was written by a newer Gaia Mesh (schema version ${version}, this one knows ${SCHEMA_VERSION}): update Gaia Mesh, or ` +
          'name another store'
      : `${location} was written by an older Gaia Mesh (schema version ${version}, this one knows ${SCHEMA_VERSION}), and is left unchanged: ` +
          'name another store, or move this one away',
  );
}

async function createTables(db: Kysely<Tables>, kind: SqlDatabase['kind']): Promise<void> {
  const { schema } = db;
  const id = (column: ColumnDefinitionBuilder) =>
    kind === 'postgres' ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey();
  const required = (column: ColumnDefinitionBuilder) => column.notNull();
  const unique = (column: ColumnDefinitionBuilder) => column.notNull().unique();
  // Not jsonb, which loses the order of keys and refuses \u0000: recorded values must be read back unchanged.
  const json = kind === 'postgres' ? 'json' : 'text';
  const tables = {
    gaia_attempts: schema
      .createTable('gaia_attempts')
      .addColumn('id', 'integer', id)
      .addColumn('attempt_id', 'text', unique)
      .addColumn('run_id', 'text', required)
      .addColumn('team', 'text', required)
      .addColumn('task_id', 'text', required)
      .addColumn('question_hash', 'text', required)
      .addColumn('attempt_number', 'integer', required)
      .addColumn('created_at', 'text', required)
      .addColumn('record', json, required)
      .addUniqueConstraint('gaia_attempts_number', ['team', 'task_id', 'question_hash', 'attempt_number']),
    gap_records: schema
      .createTable('gap_records')
      .addColumn('id', 'integer', id)
      .addColumn('attempt_id', 'text', (column) => column.references('gaia_attempts.attempt_id'))
      .addColumn('question_type', 'text', required)
      .addColumn('kind', 'text', required)
      .addColumn('status', 'text', required)
      .addColumn('terms', 'text', required)
      .addColumn('created_at', 'text', required)
      .addColumn('record', json, required),
    gap_terms: schema
      .createTable('gap_terms')
      .addColumn('term', 'text', required)
      .addColumn('gap_id', 'integer', (column) => column.notNull().references('gap_records.id'))
      .addPrimaryKeyConstraint('gap_terms_key', ['term', 'gap_id']),
    cached_answers: schema
      .createTable('cached_answers')
      .addColumn('id', 'integer', id)
      .addColumn('cache_key', 'text', unique)
      .addColumn('question', 'text', required)
      .addColumn('team', 'text', required)
      .addColumn('model', 'text', required)
      .addColumn('prompt_version', 'text', required)
      .addColumn('answer', 'text', required)
      .addColumn('took', json)
      .addColumn('created_at', 'text', required),
    store_schema: schema.createTable('store_schema').addColumn('version', 'integer', required),
  };
  for (const [name, table] of Object.entries(tables)) {
    // A strict table refuses values of another type, as Postgres does.
    await (kind === 'sqlite' ? table.modifyEnd(sql`STRICT`) : table).execute();
    // Supabase shows tables to everybody with the public key unless row-level security is on. The owner, which we are, still
    // sees all rows.
    if (kind === 'postgres') await sql`ALTER TABLE ${sql.table(name)} ENABLE ROW LEVEL SECURITY`.execute(db);
  }
  const indexes = [
    ['gaia_attempts', 'run_id'],
    ['gap_records', 'question_type'],
    ['gap_records', 'attempt_id'],
  ] as const;
  for (const [table, column] of indexes)
    await schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
  await db.insertInto('store_schema').values({ version: SCHEMA_VERSION }).execute();
}

/**
 * Parses a value before it is stored.
 *
 * @throws MeshError `store` if the store cannot hold it
 */
export function parseStorable<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MeshError('store', `${what} cannot be stored: ${formatIssues(parsed.error)}`);
}

/**
 * Parses a cell of JSON, since other programs can write to the tables, too.
 *
 * @throws MeshError `store`
 */
export function parseJsonCell<T>(
  schema: z.ZodType<T>,
  cell: unknown,
  { location, table }: { readonly location: string; readonly table: keyof Tables },
): T {
  const refuse = (problem: string) =>
    new MeshError('store', `${location}: a row of ${table} is not as Gaia Mesh writes it: ${problem}`);
  let value = cell;
  if (typeof cell === 'string') {
    try {
      value = JSON.parse(cell);
    } catch (error) {
      throw refuse(toErrorMessage(error));
    }
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuse(formatIssues(parsed.error));
  return parsed.data;
}

export function checkLimit(limit: number, max: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new MeshError('store', `expected a limit from 1 to ${max}, got ${limit}`);
}
