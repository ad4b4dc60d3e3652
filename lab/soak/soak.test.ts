import { describe, expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';
import { MemoryCurve } from './memory-curve.ts';
import { drawInjectedFaults } from './soak-round.ts';

describe('a soak', () => {
  test('of agents that are killed, doze and come back balances every book and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await runLab([
      ...['soak', '--seed', '3', '--rounds', '3', '--packets', '30000', '--minutes', '0.5'],
      ...['--agents', '4', '--processes', '2', '--json'],
    ]);
    const report = JSON.parse(stdout);

    // Memory still grows in the first seconds of any process: only what lasts is held to that.
    const violations = report.violations.filter((text: string) => !text.startsWith('memory grew'));
    expect(violations, stderr).toEqual([]);
    expect([0, 1]).toContain(code);
    expect(report.left).toEqual([]);
    expect(report.rounds.map(({ adapter }: { adapter: string }) => adapter)).toEqual([
      'json',
      'msgpack',
      'json+crc32c',
    ]);
    for (const { fates, kills } of report.rounds) {
      const { received, refused, unconfirmed, undeliverable, dropped, duplicated } = fates;
      expect(received + refused + unconfirmed + undeliverable + dropped).toBe(fates.offered + duplicated);
      expect(kills).toBeGreaterThan(0);
    }
    // A short round may be over before its first task is.
    expect(report.rounds.some(({ tasks }: { tasks: { ended: number } }) => tasks.ended > 0)).toBe(true);
    expect(report.packets).toBeGreaterThan(15_000);
  });

  test('has no agents of impossible numbers', async () => {
    expect(await runLab(['soak', '--agents', '4', '--processes', '5'])).toMatchObject({ code: 2 });
  });
});

test('injected faults are the same for the same seed, and others for another', () => {
  expect(drawInjectedFaults(7, 1, 8, 4)).toEqual(drawInjectedFaults(7, 1, 8, 4));
  expect(drawInjectedFaults(7, 1, 8, 4)).not.toEqual(drawInjectedFaults(7, 2, 8, 4));
  expect(drawInjectedFaults(7, 1, 8, 4)).not.toEqual(drawInjectedFaults(8, 1, 8, 4));
});

test('memory counts from when it has settled, at rest', () => {
  const curve = new MemoryCurve(1_000_000);
  curve.end();
  for (let second = 1; second <= 100; second++) curve.note(second < 10 ? second : 90 + second, second);

  expect(curve.growth()).toEqual({ early: 140, late: 190, growth: expect.closeTo(5 / 14), peak: 190 });
});
