import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MeshError } from '../../contracts/errors.ts';
import { RESTART_LIMITS } from '../../contracts/limits.ts';
import { RunFaults } from '../run-faults.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const node = { id: '1', tool: 'extract', port: 9001, secret: '' };

/** A run that restarts its agents and has begun its first task. */
async function startRun(restart = vi.fn(async () => node)) {
  const readmit = vi.fn(async () => undefined);
  const giveUp = vi.fn();
  const news: string[] = [];
  const faults = new RunFaults(
    { spec: null, seed: null, faults: [], restarts: true },
    {
      agents: { restart, kill: () => undefined },
      network: () => ({ readmit, giveUp }),
      emit: (event) => {
        if (event.event === 'restart') news.push(event.news);
      },
      signal: new AbortController().signal,
    },
  );
  await faults.taskBegins();
  return { faults, restart, readmit, giveUp, news, recoveries: () => faults.metrics([]).recoveries };
}

const failing = async () => {
  throw new MeshError('agent', 'no port');
};

describe('a lost agent', () => {
  test('is started and taken back after a moment, and the time that took is kept', async () => {
    const { faults, restart, readmit, news, recoveries } = await startRun();
    await vi.advanceTimersByTimeAsync(500);
    faults.agentLost('1', 'extract');
    faults.agentLost('1', 'extract');
    expect(faults.isReturning('1')).toBe(true);
    await vi.advanceTimersByTimeAsync(RESTART_LIMITS.backoffMs - 1);
    expect(restart).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await faults.taskBegins();

    expect(restart).toHaveBeenCalledExactlyOnceWith('1');
    expect(readmit).toHaveBeenCalledExactlyOnceWith(node, expect.any(AbortSignal));
    expect(faults.isReturning('1')).toBe(false);
    expect(recoveries()).toEqual([
      { agent: '1', tool: 'extract', lost_at_ms: 500, back_at_ms: 600, took_ms: 100, attempts: 1 },
    ]);
    expect(news).toEqual(['agent 1 (extract) is back after 0.10 s']);
  });

  test('is tried again later each time, and given up by name', async () => {
    const { faults, restart, giveUp, news, recoveries } = await startRun(vi.fn(failing));
    faults.agentLost('1', 'extract');
    const starts = [];
    for (let ms = 1; ms <= 1000; ms++) {
      const before = restart.mock.calls.length;
      await vi.advanceTimersByTimeAsync(1);
      if (restart.mock.calls.length > before) starts.push(ms);
    }

    expect(starts).toEqual([100, 300, 700]);
    expect(starts).toHaveLength(RESTART_LIMITS.restarts);
    expect(giveUp).toHaveBeenCalledExactlyOnceWith('1');
    expect(news).toContain('agent 1 (extract): restart 3 of 3 failed: no port');
    expect(news.at(-1)).toBe('agent 1 (extract) is not restarted again: the maximum is 3 restarts');
    expect(recoveries()).toMatchObject([{ back_at_ms: null, took_ms: null, attempts: 3 }]);

    faults.agentLost('1', 'extract');
    expect(faults.isReturning('1')).toBe(false);
    faults.agentLost('2', 'triple');
    expect(faults.isReturning('2')).toBe(true);
    await faults.end();
  });

  test('counts its starts over all its losses', async () => {
    const { faults, restart, recoveries } = await startRun();
    for (let loss = 1; loss <= RESTART_LIMITS.restarts + 1; loss++) {
      faults.agentLost('1', 'extract');
      await vi.advanceTimersByTimeAsync(1000);
    }

    expect(restart).toHaveBeenCalledTimes(RESTART_LIMITS.restarts);
    expect(recoveries()).toHaveLength(RESTART_LIMITS.restarts);
  });

  test('is not waited for when the run ends, however long it takes to start', async () => {
    const { faults, readmit, giveUp } = await startRun(vi.fn(() => new Promise<never>(() => undefined)));
    faults.agentLost('1', 'extract');
    await vi.advanceTimersByTimeAsync(RESTART_LIMITS.backoffMs);
    await faults.end();

    expect(faults.isReturning('1')).toBe(false);
    expect(readmit).not.toHaveBeenCalled();
    expect(giveUp).not.toHaveBeenCalled();
    faults.agentLost('1', 'extract');
    expect(faults.isReturning('1')).toBe(false);
  });
});
