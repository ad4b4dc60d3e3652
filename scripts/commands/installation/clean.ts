import { existsSync, readdirSync, rmSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isRunId, RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { readBatchHead } from '@gaia-mesh/evaluation/batch/journal/batch-head.ts';
import { lockBatch } from '@gaia-mesh/evaluation/batch/journal/journal.ts';
import { deriveBatchPaths } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { print } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';

export function clean(command: Command): void {
  command.option('--out <dir>', 'delete runs in this folder (default: the project root)').action(run);
}

const HEAD = /\.batch\.json$/;
/** Files that batches in a folder share. */
const SHARED = /^(agent_run_\d{8}-\d{6}\.log|submission_payload(\.[\w-]+)?\.log)$/;

/**
 * Deletes what batches of questions left in a folder: answers, journals, pages, the meshes' results and the store
 * beside them, but not a store elsewhere. A batch is recognised by its head; without one nothing is deleted.
 *
 * @returns number of batches
 * @throws MeshError `locked` while one is running
 */
function deleteBatches(folder: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder);
  const batches = names.filter((name) => HEAD.test(name)).flatMap((name) => listBatches(folder, name));
  for (const { answers } of batches) {
    const { journal, stem, head, report } = deriveBatchPaths(answers);
    const lock = lockBatch(journal, 'a batch');
    try {
      const leaderboards = names
        .filter((name) => name.startsWith(`${path.basename(stem)}.leaderboard.`) && name.endsWith('.jsonl'))
        .map((name) => path.join(folder, name));
      const files = [answers, journal, `${journal}.previous`, report, ...leaderboards, `${stem}.runs`];
      // The head is deleted last: while it exists, the rest can be found.
      for (const file of [...files, head]) rmSync(file, { recursive: true, force: true });
    } finally {
      lock.release();
    }
  }
  if (batches.length > 0)
    for (const name of names.filter((one) => SHARED.test(one))) rmSync(path.join(folder, name));
  return batches.length;
}

/** Lists the batch with this head; a file of that name with other content is the user's own. */
function listBatches(folder: string, name: string): { answers: string }[] {
  const file = path.join(folder, name);
  try {
    const answers = path.join(folder, path.basename(readBatchHead(file).answers));
    return deriveBatchPaths(answers).head === file ? [{ answers }] : [];
  } catch (error) {
    if (error instanceof MeshError) return [];
    throw error;
  }
}

/** Deletes only what runs and batches of questions left in a folder. */
async function run(options: { readonly out?: string }): Promise<void> {
  const directory = resolveOutFolder(options.out);
  const runs = path.join(directory, 'runs');
  const batches = deleteBatches(directory) + deleteBatches(path.join(runs, 'gaia'));
  const hadRuns = await deleteRuns(directory, runs);
  // Other files in `runs/` are the user's.
  for (const folder of [path.join(runs, 'gaia'), runs]) await removeEmpty(folder);
  if (batches > 0)
    print(`deleted ${batches} ${batches === 1 ? 'batch' : 'batches'} of questions in ${directory}`);
  if (hadRuns) print(`deleted the results of runs in ${directory}`);
  if (batches === 0 && !hadRuns) print(`nothing to clean in ${directory}`);
}

/** Deletes the results of runs. It locks the folder first, so that it cannot interfere with a running run. */
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
