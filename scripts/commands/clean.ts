import { existsSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { isRunId, RunFolder } from '../../core/run/run-folder.ts';

/** Deletes what runs left in a folder. Locks it first, so that no run is on and nothing but a run's is deleted. */
export async function clean(options: { readonly out?: string }): Promise<void> {
  const directory = options.out === undefined ? defaultOut() : userPath(options.out);
  if (!existsSync(path.join(directory, 'workspaces'))) {
    console.log(`nothing to clean in ${directory}`);
    return;
  }
  const folder = await RunFolder.open(directory, 'clean', new Set());
  const runs = path.join(directory, 'runs');
  const entries = existsSync(runs) ? await readdir(runs) : [];
  const targets = [folder.metricsFile, folder.archiveFile, folder.resultsFile, folder.workspaces];
  for (const target of [...targets, ...entries.filter(isRunId).map((name) => path.join(runs, name))]) {
    await rm(target, { recursive: true, force: true });
  }
  // What else is in `runs/` is the user's.
  if (entries.length > 0 && entries.every(isRunId)) await rmdir(runs);
  console.log(`deleted the results of runs in ${directory}`);
}
