import { existsSync, globSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { deriveBatchPaths, shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';

/**
 * Returns the file that the user named. A folder stands for the archive of the run in it, and no name for that of the last run.
 *
 * @throws MeshError `usage` for a folder without a run
 */
export function findArchive(named: string | undefined): string {
  const place = resolveOutFolder(named);
  return named === undefined || isFolder(place) ? findLastArchive(place) : place;
}

function findLastArchive(folder: string): string {
  const archive = path.join(folder, 'run_artifacts.tar.gz');
  if (existsSync(archive)) return archive;
  throw createNoRunError(folder);
}

/** Creates the error for a folder, or a file of answers, that has no run. It names a run that a batch or a server keeps there. */
export function createNoRunError(place: string): MeshError {
  const [folder, runs] = isFolder(place)
    ? [place, '{,runs/,*.runs/}*/run_artifacts.tar.gz']
    : [path.dirname(place), `${path.basename(deriveBatchPaths(place).stem)}.runs/*/run_artifacts.tar.gz`];
  const [first] = globSync(runs, { cwd: folder }).toSorted();
  const advice =
    first === undefined
      ? `make one with ${formatCommandLine('bench')}`
      : `name the folder of a run, such as ${shortenPath(path.join(folder, path.dirname(first)))}`;
  return new MeshError('usage', `there is no run in ${place}: ${advice}`);
}

const isFolder = (place: string) => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
