import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store at `url`: a file, `sqlite:<file>`, or `postgres://user:password@host:5432/database`.
 *
 * @throws MeshError `usage` for another kind of address, `store` if it cannot be opened
 */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  const file = resolveStoreFile(url);
  // Databases and the query builder take longer to load than most runs without a store take to start.
  const { createSqlStore } = await import('./sql/sql-store.ts');
  if (file === undefined) {
    const { openPostgres } = await import('./sql/postgres.ts');
    return createSqlStore(openPostgres(url, options), options.now);
  }
  const { openSqlite } = await import('./sql/sqlite.ts');
  return createSqlStore(await openSqlite(file, options), options.now);
}

/**
 * Returns the file of the store at `url`; undefined for Postgres. A process needs read and write permission for its folder
 * (`--allow-fs-read`, `--allow-fs-write`), because SQLite puts two more files beside it.
 *
 * @throws MeshError `usage` for an address that is neither
 */
export function resolveStoreFile(url: string, folder = process.cwd()): string | undefined {
  if (/^postgres(ql)?:/i.test(url)) return undefined;
  const file = url.replace(/^sqlite:(\/\/(?=\/))?/i, '');
  if (file === '' || /^[a-z][a-z0-9+.-]+:/i.test(file)) {
    // Show only the scheme, since the rest may hold a password.
    throw new MeshError(
      'usage',
      `the store must be a file, sqlite:<file> or postgres://…, not ${JSON.stringify(url.slice(0, url.indexOf(':') + 1))}…`,
    );
  }
  return path.resolve(folder, file);
}
