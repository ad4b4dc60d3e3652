import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import type { StoredGapRecord } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { type ColumnType, type CreateTableBuilder, type Generated, type Kysely, sql } from 'kysely';
import type * as z from 'zod';
import type { SqlDatabase } from './sql-database.ts';

/**
 * The version of the tables. {@link prepareTables} refuses any other one: a change of the tables must raise the version and add a
 * step that upgrades older stores. Versions 1 to 4 had a column for each field of a record; no release wrote them.
 */
const SCHEMA_VERSION = 5;

/**
 * Key of the advisory lock under which Postgres' tables are created, so that processes that open an empty database at once take
 * turns. Any number will do, provided that all versions use the same.
 */
const SCHEMA_LOCK = 4_213_657_001;

/** The types of columns, as queries see them. JSON is written as text; SQLite returns the text, Postgres the value. */
interface ColumnTypes {
  readonly id: Generated<number>;
  readonly integer: number;
  readonly text: string;
  readonly 'unique text': string;
  readonly 'optional text': string | null;
  readonly status: StoredGapRecord['status'];
  readonly json: ColumnType<unknown, string, string>;
  readonly 'optional json': ColumnType<unknown, string | null, string | null>;
}

/** The tables of the store. A record is kept whole as JSON; beside it stand the columns that queries need. */
const COLUMNS = {
  gaia_attempts: {
    id: 'id',
    attempt_id: 'unique text',
    run_id: 'text',
    team: 'text',
    task_id: 'text',
    // The SHA-256 of the question, which is too long for an index.
    question_hash: 'text',
    // 1 for the team's first attempt at the question.
    attempt_number: 'integer',
    created_at: 'text',
    record: 'json',
  },
  gap_records: {
    id: 'id',
    // Null if a person wrote the record.
    attempt_id: 'optional text',
    question_type: 'text',
    kind: 'text',
    status: 'status',
    // The distinct words of the record and its question, joined by spaces.
    terms: 'text',
    created_at: 'text',
    record: 'json',
  },
  // The words of all gap records, which find them by the words of a question.
  gap_terms: { term: 'text', gap_id: 'integer' },
  cached_answers: {
    id: 'id',
    cache_key: 'unique text',
    question: 'text',
    team: 'text',
    model: 'text',
    prompt_version: 'text',
    answer: 'text',
    // The use of resources by the answer; null if it is not known.
    took: 'optional json',
    created_at: 'text',
  },
  store_schema: { version: 'integer' },
} as const satisfies Record<string, Record<string, keyof ColumnTypes>>;

export type Tables = {
  readonly [Name in keyof typeof COLUMNS]: {
    readonly [Column in keyof (typeof COLUMNS)[Name]]: (typeof COLUMNS)[Name][Column] extends infer Kind extends
      keyof ColumnTypes
      ? ColumnTypes[Kind]
      : never;
  };
};

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

type NewTable = CreateTableBuilder<string, string>;

const CONSTRAINTS: Readonly<Record<string, (table: NewTable) => NewTable>> = {
  gaia_attempts: (table) =>
    table.addUniqueConstraint('attempts_number', ['team', 'task_id', 'question_hash', 'attempt_number']),
  gap_records: (table) =>
    table.addForeignKeyConstraint('gaps_attempt', ['attempt_id'], 'gaia_attempts', ['attempt_id']),
  gap_terms: (table) =>
    table
      .addPrimaryKeyConstraint('terms_key', ['term', 'gap_id'])
      .addForeignKeyConstraint('terms_gap', ['gap_id'], 'gap_records', ['id']),
};

const INDEXES = [
  ['gaia_attempts', 'run_id'],
  ['gap_records', 'question_type'],
  ['gap_records', 'attempt_id'],
] as const;

async function createTables(db: Kysely<Tables>, kind: SqlDatabase['kind']): Promise<void> {
  const isPostgres = kind === 'postgres';
  for (const [name, columns] of Object.entries(COLUMNS)) {
    let table: NewTable = db.schema.createTable(name);
    for (const [column, type] of Object.entries(columns)) table = addColumn(table, column, type, isPostgres);
    table = CONSTRAINTS[name]?.(table) ?? table;
    // A strict table refuses values of another type, as Postgres does.
    await (isPostgres ? table : table.modifyEnd(sql`STRICT`)).execute();
    // Supabase shows tables to everybody with the public key unless row-level security is on. The owner, which we are, still
    // sees all rows.
    if (isPostgres) await sql`ALTER TABLE ${sql.table(name)} ENABLE ROW LEVEL SECURITY`.execute(db);
  }
  for (const [table, column] of INDEXES)
    await db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
  await db.insertInto('store_schema').values({ version: SCHEMA_VERSION }).execute();
}

function addColumn(table: NewTable, name: string, kind: keyof ColumnTypes, isPostgres: boolean): NewTable {
  if (kind === 'id') {
    return table.addColumn(name, 'integer', (column) =>
      isPostgres ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey(),
    );
  }
  // Not jsonb, which loses the order of keys and refuses \u0000: recorded values must be read back unchanged.
  const json = isPostgres ? 'json' : 'text';
  const type = kind === 'integer' ? 'integer' : kind.endsWith('json') ? json : 'text';
  return table.addColumn(name, type, (column) => {
    const own = kind === 'unique text' ? column.unique() : column;
    return kind.startsWith('optional') ? own : own.notNull();
  });
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
  { location, table }: { readonly location: string; readonly table: string },
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
