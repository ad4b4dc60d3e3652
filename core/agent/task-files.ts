import { createHash } from 'node:crypto';
import path from 'node:path';

/** Folder inside a task's folder for files that were fetched for it. */
export const DOWNLOADS = 'downloads';

/**
 * Returns the folder of a task's files below `root`. Task ids come from the user and may be unfit for a path.
 */
export function resolveTaskFolder(root: string, taskId: string): string {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(taskId);
  const name = isPlain ? taskId : `task-${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
  return path.join(root, name);
}
