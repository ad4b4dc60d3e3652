import { createHash } from 'node:crypto';
import path from 'node:path';

/** In a task's folder: what was fetched for it. */
export const DOWNLOADS = 'downloads';

/** The folder of a task's files below `root`. Ids of tasks are the user's, and need not be fit for a path. */
export function resolveTaskFolder(root: string, taskId: string): string {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(taskId);
  const name = isPlain ? taskId : `task-${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
  return path.join(root, name);
}
