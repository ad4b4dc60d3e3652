import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { play } from './load.ts';

const nothing = { check: () => undefined };

test('an open load measures from when an exchange should have begun: those behind a slow one are slow', async () => {
  // One at a time, as on a connection that cannot multiplex: the first takes 60 ms, the others nothing.
  let before: Promise<unknown> = Promise.resolve();
  const { timesUs, isOverloaded } = await play({ kind: 'open', count: 10, ratePerS: 200 }, (index) => ({
    ...nothing,
    begin: async () => {
      before = before.then(() => (index === 0 ? sleep(60) : undefined));
      await before;
      return [];
    },
  }));
  expect(isOverloaded).toBe(false);
  expect(timesUs).toHaveLength(10);
  // The fifth should have begun 20 ms after the first, and waited for its end.
  expect(timesUs[4]).toBeGreaterThan(35_000);
});

test('a closed load keeps as many under way as it is told to, and plays each once', async () => {
  let underWay = 0;
  let most = 0;
  const played: number[] = [];
  const { count, timesUs } = await play(
    { kind: 'closed', count: 40, concurrency: 4, maxMs: 60_000 },
    (index) => ({
      ...nothing,
      begin: async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        played.push(index);
        return [];
      },
    }),
  );
  expect(most).toBe(4);
  expect(played.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index));
  expect(count).toBe(40);
  expect(timesUs).toHaveLength(40);
});

test('a load that nobody answers is broken off instead of growing', async () => {
  const answers: (() => void)[] = [];
  const playing = play({ kind: 'open', count: 5000, ratePerS: 100_000 }, (index) => ({
    ...nothing,
    begin: () =>
      new Promise((resolve) => {
        answers.push(() => resolve([]));
        // Everybody is answered when the load has given up.
        if (index === 511) setTimeout(() => answers.forEach((answer) => void answer()), 5);
      }),
  }));
  await expect(playing).resolves.toMatchObject({ isOverloaded: true, count: 512 });
});

test.each(['closed', 'open'] as const)('a wrong answer ends a %s load', async (kind) => {
  const load =
    kind === 'closed' ? { kind, count: 5, concurrency: 2, maxMs: 1000 } : { kind, count: 5, ratePerS: 500 };
  const playing = play(load, () => ({
    begin: async () => [],
    check: () => {
      throw new Error('not what was planned');
    },
  }));
  await expect(playing).rejects.toThrow('not what was planned');
});
