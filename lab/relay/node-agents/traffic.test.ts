import { expect, test } from 'vitest';
import { AgentTraffic } from './traffic.ts';

const BYTES = 300;
const WINDOW = 3 * BYTES;
const pair = () =>
  [0, 1].map((self) => new AgentTraffic(self, 2, BYTES, WINDOW)) as [AgentTraffic, AgentTraffic];

test('nobody is more than a window ahead of the one it has heard least of', () => {
  const [one, other] = pair();
  expect(one.next()).toHaveLength(3);
  expect(one.next()).toHaveLength(0);
  for (const message of other.next()) one.hear(message);
  expect(one.next()).toHaveLength(3);
  expect(one.sent).toBe(6);
});

test('a message that is lost, doubled, shortened or altered is bad', () => {
  const bad = (change: (messages: Buffer[]) => readonly Uint8Array[]) => {
    const [one, other] = pair();
    for (const message of change(one.next())) other.hear(message);
    return { heard: other.heard, bad: other.bad };
  };
  expect(bad((messages) => messages)).toEqual({ heard: 3, bad: 0 });
  expect(bad((messages) => messages.slice(1)).bad).toBeGreaterThan(0);
  expect(
    bad(([first, ...rest]) => [first, first, ...rest].filter((each) => each !== undefined)).bad,
  ).toBeGreaterThan(0);
  expect(bad((messages) => messages.map((each) => each.subarray(1)))).toMatchObject({ heard: 0, bad: 3 });
  const altered = bad(([first = Buffer.alloc(0), ...rest]) => {
    const copy = Buffer.from(first);
    copy[BYTES - 5] = 0;
    return [copy, ...rest];
  });
  expect(altered.bad).toBe(1);
});
