import os from 'node:os';
import { expect, test } from 'vitest';
import { readCpuUs, watchMachine } from './machine-state.ts';

test('the machine tells its load and its memory, and what was taken from it since the last look', () => {
  const look = watchMachine();
  for (const state of [look(), look()]) {
    expect(state.load).toBeGreaterThanOrEqual(0);
    expect(state.availableBytes).toBeGreaterThan(0);
    expect(state.availableBytes).toBeLessThanOrEqual(os.totalmem());
    for (const taken of [state.stealMs, state.throttledMs]) expect(taken ?? 0).toBeGreaterThanOrEqual(0);
  }
});

test.skipIf(process.platform !== 'linux')('a process that works has had a core for longer', () => {
  const before = readCpuUs([process.pid]) ?? Number.NaN;
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum += Math.sqrt(i);
  expect(sum).toBeGreaterThan(0);
  expect((readCpuUs([process.pid]) ?? 0) - before).toBeGreaterThan(100);
});

test('the time of a process that is gone is not known', () => {
  expect(readCpuUs([process.pid, 2 ** 22 + 1])).toBeUndefined();
});
