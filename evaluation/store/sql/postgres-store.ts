import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { CONNECT_TIMEOUT_MS, MAX_CONNECTIONS, QUERY_TIMEOUT_MS } from '../limits.ts';
import { parseConnection } from './postgres-url.ts';
import type { Warn } from './set-aside.ts';
import { checkSchemaVersion, type Row, type SqlDatabase, type Statement } from './sql-database.ts';
import { listSchemaSteps } from './sql-schema.ts';

/**
 * Key of the advisory lock under which tables are created, so that processes that open an empty database at once take turns. Any
 * number will do, provided that all versions use the same.
 */
const SCHEMA_LOCK = 4_213_657_001;

export const postgresSteps: readonly string[] = listSchemaSteps({
  id: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  // Not jsonb, which loses the order of keys and refuses \u0000: recorded values must be read back unchanged.
  json: 'json',
  boolean: 'boolean',
  wholeNumber: 'bigint',
  number: 'double precision',
  time: 'timestamptz',
  tableEnd: '',
  // Supabase shows tables to everybody with the public key unless row-level security is on. The owner, which we are, still sees
  // all rows.
  protect: (table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;`,
  // Terms are already normalized, and a parser of Postgres would split some of them again.
  gapIndex: `
    ALTER TABLE gap_records ADD COLUMN terms_found tsvector
      GENERATED ALWAYS AS (array_to_tsvector(string_to_array(terms, ' '))) STORED;
    CREATE INDEX gap_records_terms ON gap_records USING gin (terms_found);`,
});

interface PostgresOptions {
  readonly warn: Warn;
  readonly connections?: number;
}

/**
 * Opens a Postgres database by URL, Supabase's too. {@link parseConnection} describes the URL.
 *
 * @throws MeshError `usage` for an invalid URL, `store` if there is no connection or the tables cannot be created
 */
export async function openPostgres(url: string, options: PostgresOptions): Promise<SqlDatabase> {
  const { config, location } = parseConnection(url);
  // Importing the driver takes longer than most runs without it need to start.
  const pg = await import('pg');
  const pool = new pg.Pool({
    ...config,
    max: options.connections ?? MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'gaia-mesh',
    // A run that has ended must not wait for idle connections.
    allowExitOnIdle: true,
  });
  // A lost idle connection is replaced at the next query; without a listener its error would end the process.
  pool.on('error', (error) =>
    options.warn(`${location}: an idle connection was lost: ${toErrorMessage(error)}`),
  );
  // A connection lost in use fails its query, or the next one. Its error event adds nothing, and would end the process, too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const database = new PostgresDatabase(pool, location, config.password);
  try {
    await database.migrate();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return database;
}

class PostgresDatabase implements SqlDatabase {
  readonly location: string;
  readonly #pool: Pool;
  readonly #password: string | undefined;

  constructor(pool: Pool, location: string, password: string | undefined) {
    this.#pool = pool;
    this.location = location;
    this.#password = password;
  }

  termSearch(condition: string): string {
    return (
      `SELECT id FROM gap_records WHERE terms_found @@ $1::tsquery AND ${condition} ` +
      'ORDER BY ts_rank(terms_found, $1::tsquery) DESC, id DESC'
    );
  }

  /** In quotes a term is a lexeme as it stands. Without terms the query is empty and matches nothing. */
  anyOf(terms: readonly string[]): string {
    return terms.map((term) => `'${term.replaceAll(/['\\]/g, '$&$&')}'`).join(' | ');
  }

  read(statement: Statement): Promise<Row[]> {
    return this.#withClient((client) => run(client, statement));
  }

  write(statements: readonly Statement[]): Promise<Row[][]> {
    return this.#withClient((client) =>
      runTransaction(client, async () => {
        const results: Row[][] = [];
        for (const statement of statements) results.push(await run(client, statement));
        return results;
      }),
    );
  }

  async migrate(): Promise<void> {
    await this.#withClient((client) =>
      runTransaction(client, async () => {
        await client.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
        await client.query('CREATE TABLE IF NOT EXISTS store_schema (version bigint NOT NULL)');
        const [found] = await run(client, { text: 'SELECT version FROM store_schema', values: [] });
        const version = found === undefined ? 0 : z.coerce.number().int().parse(found.version);
        checkSchemaVersion(version, postgresSteps.length, this.location);
        if (version === postgresSteps.length) return;
        if (found === undefined) {
          await client.query('ALTER TABLE store_schema ENABLE ROW LEVEL SECURITY');
          await client.query('INSERT INTO store_schema VALUES (0)');
        }
        for (const step of postgresSteps.slice(version)) await client.query(step);
        await client.query('UPDATE store_schema SET version = $1', [postgresSteps.length]);
      }),
    );
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.#pool.connect();
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // The connection may be in the middle of a transaction, or lost, so it is not reused.
      client?.release(true);
      throw this.#explained(error);
    }
  }

  #explained(error: unknown): unknown {
    // Keep bugs as they are.
    if (error instanceof MeshError || error instanceof TypeError || error instanceof RangeError) return error;
    if (error instanceof z.ZodError) return error;
    const { code, message } = toFault(error);
    const shown = this.#password ? message.replaceAll(this.#password, '***') : message;
    return new MeshError('store', `${this.location}: ${shown}: ${adviseCode(code)}`, { cause: error });
  }
}

async function run(client: PoolClient, { text, values }: Statement): Promise<Row[]> {
  return z.array(z.record(z.string(), z.unknown())).parse((await client.query(text, [...values])).rows);
}

async function runTransaction<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  const result = await work();
  // After a failure the connection is closed instead, which rolls back.
  await client.query('COMMIT');
  return result;
}

/** Returns the first error of a host with several addresses, for which Node gives a single error without a message. */
function toFault(error: unknown): { code: string | undefined; message: string } {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { data } = z.object({ code: z.string().optional() }).safeParse(first);
  return { code: data?.code, message: toErrorMessage(first) };
}

/** Returns advice by SQLSTATE (PostgreSQL, appendix A) or system code. */
function adviseCode(code: string | undefined): string {
  switch (code) {
    case '28P01':
    case '28000':
      return 'check user and password of the store';
    case '3D000':
      return 'create the database, or name one that exists';
    case '42501':
      return 'the user needs the right to create and write tables there';
    case '53300':
      return 'the server has no connection left: run fewer programs at once, or use its pooler';
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
      return 'check that the server runs and can be reached from here, or name a file as the store';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'name its certificate in the URL: ?sslrootcert=<file>';
    default:
      return 'check the server and its log';
  }
}
