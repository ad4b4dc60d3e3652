import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findDefaultOut } from '@gaia-mesh/core/system/user-paths.ts';
import { formatCommandLine } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

/**
 * Returns the archive of the last run in a folder.
 *
 * @throws MeshError `usage` when there is none
 */
export function findLastArchive(folder = findDefaultOut()): string {
  const archive = path.join(folder, 'run_artifacts.tar.gz');
  if (existsSync(archive)) return archive;
  throw createNoRunError(folder);
}

export function createNoRunError(folder: string): MeshError {
  return new MeshError('usage', `there is no run in ${folder}: make one with ${formatCommandLine('bench')}`);
}
