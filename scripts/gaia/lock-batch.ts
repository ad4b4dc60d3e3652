import { FileLock } from '../../core/file-lock.ts';

/**
 * Takes the batch whose journal that is, for one process.
 *
 * @throws MeshError `locked` while `owner` (in words) has it; `io` when its folder cannot be written
 */
export function lockBatch(journal: string, owner: string): FileLock {
  const file = `${journal}.lock`;
  return FileLock.take(
    file,
    (holder) =>
      `${owner} (process ${holder}) writes there: wait for it, choose another --out, or delete ${file} if there is none`,
  );
}
