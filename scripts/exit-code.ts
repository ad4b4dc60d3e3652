import type { MeshError } from '../core/errors.ts';
import type { TaskStatus } from '../core/hub/task-clock.ts';

/** Exit codes of the command: 0 answered, 1 failed, 2 usage or configuration, 3 timeout, 130 interrupted. */
export const USAGE_EXIT = 2;
export const INTERRUPTED_EXIT = 130;

export function exitCodeOf(error: MeshError): number {
  switch (error.code) {
    case 'usage':
    case 'config':
      return USAGE_EXIT;
    case 'interrupted':
      return INTERRUPTED_EXIT;
    default:
      return 1;
  }
}

export function exitCodeOfStatus(status: TaskStatus): number {
  switch (status) {
    case 'answered':
      return 0;
    case 'failed':
      return 1;
    case 'timeout':
      return 3;
  }
}
