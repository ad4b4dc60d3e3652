import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/**
 * The file of the store at `url`, whose folder a process must be allowed to read and write (`--allow-fs-read`,
 * `--allow-fs-write`): SQLite puts two more beside it. Undefined for Postgres.
 *
 * @throws MeshError `usage` for an address that is neither
 */
export function resolveStoreFile(url: string, folder = process.cwd()): string | undefined {
  if (/^postgres(ql)?:/i.test(url)) return undefined;
  const file = url.replace(/^sqlite:(\/\/(?=\/))?/i, '');
  if (file === '' || /^[a-z][a-z0-9+.-]+:/i.test(file)) {
    // Only the scheme: what follows may hold a password.
    throw new MeshError(
      'usage',
      `the store must be a file, sqlite:<file> or postgres://…, not ${JSON.stringify(url.slice(0, url.indexOf(':') + 1))}…`,
    );
  }
  return path.resolve(folder, file);
}
