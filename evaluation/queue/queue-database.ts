import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type Kysely, sql } from 'kysely';
import type { Db, PgBoss } from 'pg-boss';
import { openPostgres } from '../store/sql/postgres.ts';
import type { SqlDatabase } from '../store/sql/sql-database.ts';
import { buildQueries } from '../store/sql/sql-store.ts';
import type { StoreOptions } from '../store/store.ts';

/** The schema of the database with the tables of queues. */
const SCHEMA = 'gaia_mesh_queue';
/** The schema of pg-boss. */
const JOBS = 'gaia_mesh_jobs';
/** Key of the advisory lock under which the tables are created; the same in all versions. */
const SCHEMA_LOCK = 4_213_657_002;

/**
 * `open`: workers take its attempts. `stopped`: its limit or a shared cause ended it, and it can be resumed. `finished` and
 * `cancelled` are its ends.
 */
export type BatchState = 'open' | 'stopped' | 'finished' | 'cancelled';

interface QueueTables {
  readonly batches: {
    readonly name: string;
    readonly state: BatchState;
    readonly gaia_mesh: string;
    readonly plan: string;
  };
  readonly attempts: {
    readonly batch: string;
    /** Place of the team in the plan. */
    readonly team: number;
    readonly cycle: number;
    readonly task_id: string;
    readonly job_id: string;
    /** The worker that took it last. */
    readonly worker: string | null;
    /** The order in which attempts were finished; null before. */
    readonly finished: number | null;
    readonly record: string | null;
  };
  readonly files: { readonly sha256: string; readonly content: Buffer };
  readonly workers: {
    readonly id: string;
    readonly slots: number;
    readonly running: number;
    readonly done: number;
    /** The reason, in words, why it takes no attempts of some batch; null if it takes attempts of all. */
    readonly refuses: string | null;
    readonly seen: Date;
  };
}

/** The tables of queues by their whole names, for queries that the builder cannot express. */
const NAMES = {
  attempts: sql.table(`${SCHEMA}.attempts`),
  jobs: sql.table(`${JOBS}.job`),
  /** The sequence of the numbers of results. */
  finished: sql.lit(`${SCHEMA}.finished`),
};

/** A database with the tables of queues, and the jobs of pg-boss in it. */
interface QueueDatabase {
  /** The address, without a password. */
  readonly location: string;
  readonly db: Kysely<QueueTables>;
  readonly names: typeof NAMES;
  readonly boss: PgBoss;
  /** Lets pg-boss work within a transaction. */
  readonly toBoss: (transaction: Kysely<QueueTables>) => Db;
  close(): Promise<void>;
}

/**
 * Opens the database of a queue, and creates its tables where there are none.
 *
 * @throws MeshError `usage` for an address that is no Postgres, `config` if pg-boss is not installed, `store`
 */
export async function openQueueDatabase(url: string, options: StoreOptions): Promise<QueueDatabase> {
  if (!/^postgres(ql)?:/i.test(url))
    throw new MeshError('usage', `a queue needs Postgres (--store postgres://…), not the file ${url}`);
  const { PgBoss: Boss, fromKysely } = await loadBoss();
  const database = openPostgres(url, options);
  const queries = buildQueries<QueueTables>(database);
  const boss = new Boss({
    db: toBossDatabase(database),
    schema: JOBS,
    // pg-boss finds lost workers when it checks the heartbeats, which it does once a minute by default.
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
    schedule: false,
    registerInstance: false,
    reindex: false,
    monitorVacuum: false,
    openTelemetry: { enabled: false },
  });
  // Errors of its timers are ignored: the next check follows within seconds, and our own calls report their errors.
  boss.on('error', () => undefined);
  boss.on('warning', () => undefined);
  try {
    await queries.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`.execute(tx);
      await createTables(tx);
      // Processes that open an empty database at once would create the schema of pg-boss twice.
      await boss.start();
    });
  } catch (error) {
    await queries.destroy();
    throw error;
  }
  return {
    location: database.location,
    db: queries.withSchema(SCHEMA),
    names: NAMES,
    boss,
    toBoss: fromKysely,
    async close() {
      await boss.stop({ graceful: false, close: false }).catch(() => undefined);
      await queries.destroy();
    },
  };
}

async function loadBoss() {
  try {
    return await import('pg-boss');
  } catch (error) {
    throw new MeshError('config', 'a queue needs the package pg-boss: npm install pg-boss@12', {
      cause: error,
    });
  }
}

/** Lets pg-boss use our connections, whose errors tell the user what to do. */
function toBossDatabase(database: SqlDatabase): Db {
  return {
    async executeSql(text, values = []) {
      const connection = await database.connect();
      try {
        return { rows: await connection.query(text, values) };
      } finally {
        connection.release();
      }
    },
  };
}

async function createTables(tx: Kysely<QueueTables>): Promise<void> {
  await sql
    .raw(
      `CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
         CREATE SEQUENCE IF NOT EXISTS ${SCHEMA}.finished;
         CREATE TABLE IF NOT EXISTS ${SCHEMA}.batches (
           name text PRIMARY KEY, state text NOT NULL, gaia_mesh text NOT NULL, plan json NOT NULL,
           created_at timestamptz NOT NULL DEFAULT now());
         CREATE TABLE IF NOT EXISTS ${SCHEMA}.attempts (
           batch text NOT NULL REFERENCES ${SCHEMA}.batches, team integer NOT NULL, cycle integer NOT NULL,
           task_id text NOT NULL, job_id uuid NOT NULL UNIQUE, worker text, finished bigint, record json,
           PRIMARY KEY (batch, team, cycle, task_id));
         CREATE INDEX IF NOT EXISTS attempts_finished ON ${SCHEMA}.attempts (batch, finished);
         CREATE TABLE IF NOT EXISTS ${SCHEMA}.files (sha256 text PRIMARY KEY, content bytea NOT NULL);
         CREATE TABLE IF NOT EXISTS ${SCHEMA}.workers (
           id text PRIMARY KEY, slots integer NOT NULL, running integer NOT NULL, done integer NOT NULL,
           refuses text, seen timestamptz NOT NULL);`,
    )
    .execute(tx);
}
