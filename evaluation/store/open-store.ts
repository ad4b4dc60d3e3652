import { createAttemptTable } from './sql/attempt-table.ts';
import { createCacheTable } from './sql/cache-table.ts';
import { createGapTable } from './sql/gap-table.ts';
import type { Warn } from './sql/set-aside.ts';
import type { SqlDatabase } from './sql/sql-database.ts';
import { SqlTables } from './sql/sql-tables.ts';
import { resolveStoreFile } from './sql/store-file.ts';
import type { Store } from './store.ts';

interface StoreOptions {
  /** Receives warnings about faults that do not stop the work, such as a corrupt file that was set aside. */
  readonly warn: Warn;
  /** Folder of relative paths; by default the process's folder. */
  readonly folder?: string;
  readonly now?: () => Date;
  /** Milliseconds for which a busy SQLite file is retried. */
  readonly busyTimeoutMs?: number | undefined;
  /** Maximum connections to Postgres. */
  readonly connections?: number;
}

/**
 * Opens the store at `url`: a file, `sqlite:<file>`, or `postgres://user:password@host:5432/database`.
 *
 * @throws MeshError `usage` for another kind of address, `store` if it cannot be opened
 */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  const { folder, now = () => new Date(), ...rest } = options;
  const file = resolveStoreFile(url, folder);
  if (file !== undefined) {
    const { openSqlite } = await import('./sql/sqlite-store.ts');
    return createSqlStore(await openSqlite(file, rest), now);
  }
  const { openPostgres } = await import('./sql/postgres-store.ts');
  return createSqlStore(await openPostgres(url, rest), now);
}

/** Creates a store from either database. Everything but the access to the database is the same for both. */
function createSqlStore(database: SqlDatabase, now: () => Date): Store {
  const tables = new SqlTables(database, now);
  return {
    location: database.location,
    ...createAttemptTable(tables),
    ...createGapTable(tables),
    ...createCacheTable(tables),
    close: () => database.close(),
  };
}
