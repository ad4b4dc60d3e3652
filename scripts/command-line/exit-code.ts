import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import type { BatchEnd } from '@gaia-mesh/evaluation/batch/batch.ts';

/** Exit codes of the command, which `docs/troubleshooting.md` lists. */
const USAGE_EXIT = 2;
export const INTERRUPTED_EXIT = 130;

export function toExitCode(error: Pick<MeshError, 'code'>): number {
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

/** Returns the exit code of a batch that was not finished. */
export function endToExitCode(end: Exclude<BatchEnd, { kind: 'finished' }>): number {
  switch (end.kind) {
    case 'interrupted':
      return INTERRUPTED_EXIT;
    case 'limit':
      return toExitCode(new MeshError('limit', end.reason));
    case 'stopped':
      return toExitCode(end.error);
  }
}

export function statusToExitCode(status: TaskStatus): number {
  switch (status) {
    case 'answered':
      return 0;
    case 'failed':
      return 1;
    case 'timeout':
      return 3;
  }
}
