import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { RunFolder } from '../../core/run/run-folder.ts';

/** Deletes what runs left in a folder. Locks it first, so that no run is on and nothing but a run's is deleted. */
export async function clean(options: { readonly out?: string }): Promise<void> {
  const directory = options.out === undefined ? defaultOut() : userPath(options.out);
  if (!existsSync(path.join(directory, 'workspaces'))) {
    console.log(`nothing to clean in ${directory}`);
    return;
  }
  const folder = await RunFolder.open(directory, 'clean', new Set());
  const runs = path.join(directory, 'runs');
  for (const target of [
    folder.metricsFile,
    folder.archiveFile,
    folder.resultsFile,
    runs,
    folder.workspaces,
  ]) {
    await rm(target, { recursive: true, force: true });
  }
  console.log(`deleted the results of runs in ${directory}`);
}
