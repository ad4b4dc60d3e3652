import { createAttemptTable } from './sql/attempt-table.ts';
import { createCacheTable } from './sql/cache-table.ts';
import { createGapTable } from './sql/gap-table.ts';
import type { Warn } from './sql/set-aside.ts';
import type { SqlDatabase } from './sql/sql-database.ts';
import { SqlTables } from './sql/sql-tables.ts';
import { resolveStoreFile } from './sql/store-file.ts';
import type { Store } from './store.ts';

export interface StoreOptions {
  /** Hears what the user should know although the work goes on, such as a corrupt file that was set aside. */
  readonly warn: Warn;
  /** Where relative files are looked for; by default the process's folder. */
  readonly folder?: string;
  readonly now?: () => Date;
  /** How long a busy SQLite file is asked again, milliseconds. */
  readonly busyTimeoutMs?: number;
  /** Connections to Postgres. */
  readonly connections?: number;
}

/**
 * Opens the store at `url`: a file, `sqlite:<file>`, or `postgres://user:password@host:5432/database`.
 *
 * @throws MeshError `usage` for another kind of address, `store` when it cannot be opened
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

/** All that is the same for both databases, which is all but how they are reached. */
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
