import { existsSync, renameSync } from 'node:fs';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';

/**
 * Renames `file` to the first free `<file>.corrupt-<n>`, and likewise the files that belong to it (`file` + suffix), so that all
 * of them can be rescued. Returns the new name.
 */
export function setAside(file: string, suffixes: readonly string[] = []): string {
  for (let n = 1; n <= STORE_LIMITS.setAside; n++) {
    const aside = `${file}.corrupt-${n}`;
    if (existsSync(aside)) continue;
    try {
      // The file is renamed last: a new one must not find the files that belonged to this one.
      for (const suffix of suffixes) {
        if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
      }
      renameSync(file, aside);
    } catch (error) {
      throw new MeshError(
        'store',
        `${file} is corrupt, and cannot be renamed to ${aside}: ${toErrorMessage(error)}`,
        {
          cause: error,
        },
      );
    }
    return aside;
  }
  throw new MeshError(
    'store',
    `${file} is corrupt, and ${STORE_LIMITS.setAside} files were set aside before it (${file}.corrupt-1 and so on): delete them`,
  );
}
