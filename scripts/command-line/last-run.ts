import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { defaultOut } from '@gaia-mesh/core/system/user-paths.ts';

/** The archive of the last run. @throws MeshError `usage` where there is none */
export function lastArchive(): string {
  const archive = path.join(defaultOut(), 'run_artifacts.tar.gz');
  if (existsSync(archive)) return archive;
  throw noRunIn(defaultOut());
}

export function noRunIn(folder: string): MeshError {
  return new MeshError('usage', `there is no run in ${folder}: npm run bench makes one`);
}
