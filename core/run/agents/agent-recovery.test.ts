import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MeshError } from '../../contracts/errors.ts';
import { RESTART_LIMITS } from '../../contracts/limits.ts';
import { AgentRecovery } from '../run-faults.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const node = { id: '1', tool: 'extract', port: 9001, secret: '' };

function recoveryOf(options: Partial<ConstructorParameters<typeof AgentRecovery>[0]> = {}) {
  const startMs = Date.now();
  const restart = vi.fn(async () => node);
  const readmit = vi.fn(async () => undefined);
  const onGivenUp = vi.fn();
  const news: string[] = [];
  const recovery = new AgentRecovery({
    restart,
    readmit,
    onGivenUp,
    onEvent: (text) => news.push(text),
    nowMs: () => Date.now() - startMs,
    signal: new AbortController().signal,
    ...options,
  });
  return { recovery, restart, readmit, onGivenUp, news };
}

const failing = async () => {
  throw new MeshError('agent', 'no port');
};

describe('a lost agent', () => {
  test('is started and taken back after a moment, and the time that took is kept', async () => {
    const { recovery, restart, readmit, news } = recoveryOf();
    await vi.advanceTimersByTimeAsync(500);
    recovery.lost('1', 'extract');
    recovery.lost('1', 'extract');
    expect(recovery.isReturning('1')).toBe(true);
    await vi.advanceTimersByTimeAsync(RESTART_LIMITS.backoffMs - 1);
    expect(restart).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await recovery.settled();

    expect(restart).toHaveBeenCalledExactlyOnceWith('1');
    expect(readmit).toHaveBeenCalledExactlyOnceWith(node, expect.any(AbortSignal));
    expect(recovery.isReturning('1')).toBe(false);
    expect(recovery.recoveries).toEqual([
      { agent: '1', tool: 'extract', lost_at_ms: 500, back_at_ms: 600, took_ms: 100, attempts: 1 },
    ]);
    expect(news).toEqual(['agent 1 (extract) is back after 0.10 s']);
  });

  test('is tried again later each time, and given up by name', async () => {
    const restart = vi.fn(failing);
    const { recovery, onGivenUp, news } = recoveryOf({ restart });
    recovery.lost('1', 'extract');
    const starts = [];
    for (let ms = 1; ms <= 1000; ms++) {
      const before = restart.mock.calls.length;
      await vi.advanceTimersByTimeAsync(1);
      if (restart.mock.calls.length > before) starts.push(ms);
    }

    expect(starts).toEqual([100, 300, 700]);
    expect(starts).toHaveLength(RESTART_LIMITS.restarts);
    expect(onGivenUp).toHaveBeenCalledExactlyOnceWith('1');
    expect(news).toContain('agent 1 (extract): restart 3 of 3 failed: no port');
    expect(news.at(-1)).toBe('agent 1 (extract) is not restarted again: the maximum is 3 restarts');
    expect(recovery.recoveries).toMatchObject([{ back_at_ms: null, took_ms: null, attempts: 3 }]);

    recovery.lost('1', 'extract');
    expect(recovery.isReturning('1')).toBe(false);
    recovery.lost('2', 'triple');
    expect(recovery.isReturning('2')).toBe(true);
    await recovery.end();
  });

  test('counts its starts over all its losses', async () => {
    const { recovery, restart } = recoveryOf();
    for (let loss = 1; loss <= RESTART_LIMITS.restarts + 1; loss++) {
      recovery.lost('1', 'extract');
      await vi.advanceTimersByTimeAsync(1000);
    }

    expect(restart).toHaveBeenCalledTimes(RESTART_LIMITS.restarts);
    expect(recovery.recoveries).toHaveLength(RESTART_LIMITS.restarts);
  });

  test('is not waited for when the run ends, however long it takes to start', async () => {
    const { recovery, readmit, onGivenUp } = recoveryOf({ restart: () => new Promise(() => undefined) });
    recovery.lost('1', 'extract');
    await vi.advanceTimersByTimeAsync(RESTART_LIMITS.backoffMs);
    await recovery.end();

    expect(recovery.isReturning('1')).toBe(false);
    expect(readmit).not.toHaveBeenCalled();
    expect(onGivenUp).not.toHaveBeenCalled();
    recovery.lost('1', 'extract');
    expect(recovery.isReturning('1')).toBe(false);
  });
});
