import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { deriveBatchPaths } from '../../plan/batch-places.ts';
import { readBatchHead } from './batch-head.ts';
import { lockBatch } from './journal.ts';

const HEAD = /\.batch\.json$/;
/** What batches in a folder share. */
const SHARED = /^(agent_run_\d{8}-\d{6}\.log|submission_payload(\.[\w-]+)?\.log)$/;

/**
 * Deletes what batches of questions left in a folder: answers, journals, pages, the meshes' results and the store beside them. A store
 * that has a place of its own stays. A batch is known by its head; without one nothing is touched.
 *
 * @returns how many batches there were
 * @throws MeshError `locked` while one is on
 */
export function deleteBatches(folder: string): number {
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
      // The head last: as long as it is there, the rest can be found.
      for (const file of [...files, head]) rmSync(file, { recursive: true, force: true });
    } finally {
      lock.release();
    }
  }
  if (batches.length > 0)
    for (const name of names.filter((one) => SHARED.test(one))) rmSync(path.join(folder, name));
  return batches.length;
}

/** A file of that name that is something else is the user's own. */
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
