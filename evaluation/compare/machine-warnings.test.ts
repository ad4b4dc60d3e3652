import { expect, test } from 'vitest';
import { listMachineWarnings } from './machine-warnings.ts';

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
