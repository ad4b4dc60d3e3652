import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';

/**
 * Repeats a call while the database cannot be reached, since it may be restarting, and reports this once.
 *
 * @returns undefined if `signal` ended the wait
 * @throws MeshError `store` after `QUEUE_LIMITS.patienceMs`, and any other fault at once
 */
export async function waitOutFaults<T>(
  call: () => Promise<T>,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<T | undefined> {
  const deadlineMs = performance.now() + QUEUE_LIMITS.patienceMs;
  for (let pauseMs: number = QUEUE_LIMITS.pollMs, isFirst = true; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof MeshError) || error.code !== 'store' || performance.now() > deadlineMs)
        throw error;
      if (isFirst) say(`${error.message}; trying again for ${QUEUE_LIMITS.patienceMs / 60_000} minutes`);
      isFirst = false;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
