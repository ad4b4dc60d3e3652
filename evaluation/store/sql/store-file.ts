import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

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
