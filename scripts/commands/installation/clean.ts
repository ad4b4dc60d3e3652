import { existsSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isRunId, RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { deleteBatches } from '@gaia-mesh/evaluation/batch/journal/delete-batches.ts';
import { print } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';

export function clean(command: Command): void {
  command.option('--out <dir>', 'delete runs in this folder (default: the project root)').action(run);
}

/** Deletes what runs and batches of questions left in a folder, and nothing else. */
async function run(options: { readonly out?: string }): Promise<void> {
  const directory = resolveOutFolder(options.out);
  const runs = path.join(directory, 'runs');
  const batches = deleteBatches(directory) + deleteBatches(path.join(runs, 'gaia'));
  const hadRuns = await deleteRuns(directory, runs);
  // What else is in `runs/` is the user's.
  for (const folder of [path.join(runs, 'gaia'), runs]) await removeEmpty(folder);
  if (batches > 0)
    print(`deleted ${batches} ${batches === 1 ? 'batch' : 'batches'} of questions in ${directory}`);
  if (hadRuns) print(`deleted the results of runs in ${directory}`);
  if (batches === 0 && !hadRuns) print(`nothing to clean in ${directory}`);
}

/** Locks the folder first, so that no run is on and nothing but a run's is deleted. */
async function deleteRuns(directory: string, runs: string): Promise<boolean> {
  if (!existsSync(path.join(directory, 'workspaces'))) return false;
  const folder = await RunFolder.open(directory, 'clean', new Set());
  const entries = existsSync(runs) ? await readdir(runs) : [];
  const targets = [
    folder.metricsFile,
    folder.archiveFile,
    folder.resultsFile,
    folder.journalFile,
    folder.workspaces,
  ];
  for (const target of [...targets, ...entries.filter(isRunId).map((name) => path.join(runs, name))]) {
    await rm(target, { recursive: true, force: true });
  }
  return true;
}

async function removeEmpty(folder: string): Promise<void> {
  if (existsSync(folder) && (await readdir(folder)).length === 0) await rmdir(folder);
}
