import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FaultSchedule } from '../../run/run-faults.ts';
import { isTimed } from './fault.ts';
import { parseFaults } from './parse-faults.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function scheduleOf(spec: string) {
  const agents = [
    { id: '0', tool: 'search' },
    { id: '1', tool: 'extract' },
  ];
  const seen: string[] = [];
  const schedule = new FaultSchedule(parseFaults(spec, agents).filter(isTimed), {
    begin: ({ text }) => seen.push(`begin ${text}`),
    end: ({ text }) => seen.push(`end ${text}`),
  });
  return { schedule, seen };
}

test('faults happen at their times after the first task began, and what lasts ends', async () => {
  const { schedule, seen } = scheduleOf('kill=0@2s,stall=1@1s+2s,partition=0|1@10s+1s');
  await vi.advanceTimersByTimeAsync(5000);
  expect(seen).toEqual([]);

  schedule.start();
  await vi.advanceTimersByTimeAsync(500);
  schedule.start();
  await vi.advanceTimersByTimeAsync(2500);
  schedule.stop();
  await vi.advanceTimersByTimeAsync(60_000);

  expect(seen).toEqual(['begin stall=1@1s+2s', 'begin kill=0@2s', 'end stall=1@1s+2s']);
  expect(schedule.records).toEqual([
    { fault: 'kill=0@2s', kind: 'kill', at_ms: 2000, ended_ms: null },
    { fault: 'stall=1@1s+2s', kind: 'stall', at_ms: 1000, ended_ms: 3000 },
    { fault: 'partition=0|1@10s+1s', kind: 'partition', at_ms: null, ended_ms: null },
  ]);
});

test('a fault that is still on when the run ends, ends with it, once', async () => {
  const { schedule, seen } = scheduleOf('stall=1@0s+1s');
  schedule.start();
  await vi.advanceTimersByTimeAsync(400);
  schedule.stop();
  schedule.stop();
  await vi.advanceTimersByTimeAsync(1000);

  expect(seen).toEqual(['begin stall=1@0s+1s', 'end stall=1@0s+1s']);
  expect(schedule.records).toMatchObject([{ at_ms: 0, ended_ms: 400 }]);
});
