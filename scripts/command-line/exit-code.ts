import type { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import type { BatchEnd } from '@gaia-mesh/evaluation/batch/batch.ts';

/** Exit codes of all commands; `docs/troubleshooting.md` has a table of the outcomes. */
export const EXIT = { done: 0, failed: 1, usage: 2, timeout: 3, interrupted: 130 } as const;

export function toExitCode(error: Pick<MeshError, 'code'>): number {
  switch (error.code) {
    case 'usage':
    case 'config':
      return EXIT.usage;
    case 'interrupted':
      return EXIT.interrupted;
    default:
      return EXIT.failed;
  }
}

/** Returns the exit code of a batch that was not finished. */
export function endToExitCode(end: Exclude<BatchEnd, { kind: 'finished' }>): number {
  switch (end.kind) {
    case 'interrupted':
      return EXIT.interrupted;
    case 'limit':
      return toExitCode({ code: 'limit' });
    case 'stopped':
      return toExitCode(end.error);
  }
}

export function statusToExitCode(status: TaskStatus): number {
  switch (status) {
    case 'answered':
      return EXIT.done;
    case 'failed':
      return EXIT.failed;
    case 'timeout':
      return EXIT.timeout;
  }
}
