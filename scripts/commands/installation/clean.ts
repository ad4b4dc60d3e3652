import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isRunId, RunFolder } from '@gaia-mesh/core/run/run-folder.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder } from '@gaia-mesh/core/system/user-paths.ts';
import { readBatchHead } from '@gaia-mesh/evaluation/batch/journal/batch-head.ts';
import { lockBatch } from '@gaia-mesh/evaluation/batch/journal/journal.ts';
import { deriveBatchPaths } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { defineTable, flag, option, output } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../../command-line/options.ts';

const cleanTable = defineTable({
  options: z.object({
    out: option('<dir>', 'delete runs in this folder (default: the project root)', output.folder.optional()),
    dryRun: flag('list what would be deleted, and delete nothing'),
    yes: flag('delete without asking'),
  }),
});

type CleanOptions = z.output<typeof cleanTable.options>;

export function clean(command: Command): void {
  defineOptions(command, cleanTable, run);
}

const HEAD = /\.batch\.json$/;
/** Matches the names of files that all batches in a folder share. */
const SHARED = /^(agent_run_\d{8}-\d{6}\.log|submission_payload(\.[\w-]+)?\.log)$/;

interface FoundBatch {
  readonly answers: string;
  /** The batch's own files; the last one is its head, by which the others are found. */
  readonly files: readonly string[];
}

/**
 * Lists the batches of questions in a folder, each with its answers, journal, page, the meshes' results and the store beside
 * them, but not a store elsewhere. A batch is recognised by its head.
 */
function findBatches(folder: string): FoundBatch[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder);
  return names.filter((name) => HEAD.test(name)).flatMap((name) => readBatch(folder, name, names));
}

/** Reads the batch with this head; a file of that name with other content is the user's own. */
function readBatch(folder: string, name: string, names: readonly string[]): FoundBatch[] {
  const file = path.join(folder, name);
  try {
    const batch = readBatchHead(file);
    const answers = path.join(folder, path.basename(batch.answers));
    const { journal, stem, head, report } = deriveBatchPaths(answers);
    // This is the batch of a `bench`, which is deleted with its run.
    if (head !== file || batch.journal !== path.basename(journal)) return [];
    const leaderboards = names
      .filter((other) => other.startsWith(`${path.basename(stem)}.leaderboard.`) && other.endsWith('.jsonl'))
      .map((other) => path.join(folder, other));
    const files = [answers, journal, `${journal}.previous`, report, ...leaderboards, `${stem}.runs`, head];
    return [{ answers, files }];
  } catch (error) {
    if (error instanceof MeshError) return [];
    throw error;
  }
}

/** @throws MeshError `locked` while the batch is running */
function deleteBatch({ answers, files }: FoundBatch): void {
  const folder = path.dirname(answers);
  const lock = lockBatch(deriveBatchPaths(answers).journal, 'a batch');
  try {
    for (const file of files) rmSync(file, { recursive: true, force: true });
    for (const name of readdirSync(folder).filter((one) => SHARED.test(one))) rmSync(path.join(folder, name));
  } finally {
    lock.release();
  }
}

/** Deletes only what runs and batches of questions left in a folder, after the user has agreed. */
async function run(options: CleanOptions): Promise<void> {
  const directory = resolveOutFolder(options.out);
  const runs = path.join(directory, 'runs');
  const batches = [directory, path.join(runs, 'gaia')].flatMap(findBatches);
  const hasRuns = existsSync(path.join(directory, 'workspaces'));
  const earlier = hasRuns && existsSync(runs) ? (await readdir(runs)).filter(isRunId) : [];
  if (batches.length === 0 && !hasRuns) {
    print(`nothing to clean in ${directory}`);
    return;
  }
  const found = [
    ...batches.map(({ answers }) => `a batch of questions with ${describeAnswers(answers)}: ${answers}`),
    ...(hasRuns ? [`the files of the last run in ${directory}${formatEarlier(earlier.length)}`] : []),
  ];
  if (options.dryRun) {
    for (const line of found) print(`would delete ${line}`);
    return;
  }
  if (!options.yes) await ask(found, options);
  for (const batch of batches) deleteBatch(batch);
  if (hasRuns) await deleteRuns(directory, runs);
  // Other files in `runs/` are the user's.
  for (const folder of [path.join(runs, 'gaia'), runs]) await removeEmpty(folder);
  for (const line of found) print(`deleted ${line}`);
}

function formatEarlier(runs: number): string {
  if (runs === 0) return '';
  return runs === 1 ? ', and an earlier run in runs/' : `, and ${count(runs)} earlier runs in runs/`;
}

/** Counts the answers of a batch: they cost money, or time, and only a copy brings them back. */
function describeAnswers(answers: string): string {
  const { journal } = deriveBatchPaths(answers);
  if (!existsSync(journal)) return 'no answers yet';
  const answered = readFileSync(journal).reduce((lines, byte) => lines + (byte === 0x0a ? 1 : 0), 0);
  return answered === 1 ? '1 answer' : `${count(answered)} answers`;
}

/**
 * Asks on a terminal whether to delete.
 *
 * @throws MeshError `usage` unless the user agrees
 */
async function ask(found: readonly string[], { out }: CleanOptions): Promise<void> {
  printError('To be deleted for good:');
  for (const line of found) printError(`  ${line}`);
  if (!process.stdin.isTTY) {
    const words = [...(out === undefined ? [] : ['--out', out]), '--yes'];
    throw new MeshError('usage', `nothing was deleted. To delete it: ${formatCommandLine('clean', words)}`);
  }
  printError('Delete it? [y/N]');
  const terminal = createInterface({ input: process.stdin });
  const [answer = ''] = await Promise.race([
    terminal.question('').then((text) => [text]),
    new Promise<string[]>((resolve) => terminal.once('close', () => resolve([]))),
  ]).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new MeshError('usage', 'nothing was deleted');
}

/** Deletes the results of runs. It locks the folder first, so that it cannot interfere with a running run. */
async function deleteRuns(directory: string, runs: string): Promise<void> {
  const folder = await RunFolder.open(directory, 'clean', new Set());
  const entries = existsSync(runs) ? await readdir(runs) : [];
  const targets = [
    folder.metricsFile,
    folder.archiveFile,
    folder.resultsFile,
    folder.headFile,
    folder.workspaces,
  ];
  for (const target of [...targets, ...entries.filter(isRunId).map((name) => path.join(runs, name))]) {
    await rm(target, { recursive: true, force: true });
  }
}

async function removeEmpty(folder: string): Promise<void> {
  if (existsSync(folder) && (await readdir(folder)).length === 0) await rmdir(folder);
}
