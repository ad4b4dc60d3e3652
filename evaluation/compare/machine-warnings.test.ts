import os from 'node:os';
import { expect, test } from 'vitest';
import { listMachineWarnings, readOthersMs } from './machine-warnings.ts';

const QUIET = { stealMs: 0, throttledMs: null, availableBytes: 4e9 };
const setting = { loadBefore: 0.3, othersMs: 100, cores: 2, elapsedMs: 1000 };

test('a machine that had nothing else to do is not warned of', () => {
  expect(listMachineWarnings([QUIET, QUIET], setting)).toEqual([]);
});

test.each([
  ['was busy before', [QUIET], { ...setting, loadBefore: 1.5 }, '1.5 processes wanted one of 2 cores'],
  [
    'is busy',
    [QUIET],
    { ...setting, othersMs: 600 },
    'busy during the measurement: other programs took 30.0 % of',
  ],
  ['shares its host', [{ ...QUIET, stealMs: 100 }], setting, 'gave 5.0 % of the cores'],
  ['is throttled', [{ ...QUIET, throttledMs: 500 }], setting, 'throttled for 25.0 %'],
  ['has no memory left', [{ ...QUIET, availableBytes: 100 * 2 ** 20 }], setting, '100 MB were left'],
])('a machine that %s is warned of', (_, rounds, given, warning) => {
  expect(listMachineWarnings(rounds, given)).toEqual([expect.stringContaining(warning)]);
});

test('a machine whose system does not tell what others took is not warned of them', () => {
  expect(listMachineWarnings([QUIET], { ...setting, othersMs: Number.NaN })).toEqual([]);
});

test('time of the process and of its ended children is not that of others, whatever the name of the process', () => {
  const core = (user: number, irq: number) => ({
    model: 'm',
    speed: 0,
    times: { user, nice: 10, sys: 100, idle: 9000, irq },
  });
  const fields = ['S', ...Array(10).fill('7'), '11', '5', '40', '3', '20', '0', '1'];
  const cores = [core(1000, 5), core(500, 5)];

  // The cores were busy for 1115 and 615 ms, and 59 hundredths of a second of that are ours.
  expect(readOthersMs(`42 (node ) (x) ${fields.join(' ')}`, cores)).toBe(1730 - 590);
  expect(readOthersMs('', cores)).toBeNaN();
});

test.runIf(process.platform === 'linux')(
  'work of this process is its own, by the clocks of this machine',
  () => {
    const { user, system } = process.cpuUsage();
    const othersMs = readOthersMs();
    const busyMs = os
      .cpus()
      .reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

    // Each of the four counts may lack a hundredth of a second.
    expect(busyMs - othersMs).toBeGreaterThan((user + system) / 1000 - 40);
  },
);
