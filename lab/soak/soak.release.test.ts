import { expect, test } from 'vitest';
import { runLab } from '../testing/run-lab.ts';

test('a soak of agents that are killed, doze and come back balances every book and leaves nothing behind', async () => {
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
