import { expect, test } from 'vitest';
import { estimateMedian, estimateText, runInterleaved } from './rounds.ts';

test('each target is measured once a round, in an order of chance, and rounds of warming up do not count', async () => {
  const order: string[] = [];
  const target = (name: string) => (round: number) => {
    order.push(name);
    return `${name}${round}`;
  };
  const samples = await runInterleaved({ a: target('a'), b: target('b') }, { rounds: 20, warmUp: 2 });

  expect(samples.a).toHaveLength(20);
  expect(samples.b.slice(0, 3)).toEqual(['b0', 'b1', 'b2']);
  const rounds = Array.from({ length: 22 }, (_, round) => order.slice(2 * round, 2 * round + 2).join(''));
  expect(new Set(rounds)).toEqual(new Set(['ab', 'ba']));
});

test('an interrupted measurement ends before the next target', async () => {
  const controller = new AbortController();
  const target = () => controller.abort(new Error('stop'));
  await expect(runInterleaved({ a: target }, { rounds: 5, signal: controller.signal })).rejects.toThrow(
    'stop',
  );
});

test.each([
  [[3, 1, 2], { median: 2, low: 1, high: 3 }],
  [[4, 1, 2, 3], { median: 2.5, low: 1, high: 4 }],
  [Array.from({ length: 11 }, (_, i) => i), { median: 5, low: 2, high: 8 }],
  [[Number.NaN], undefined],
])('the estimate of %j', (values, expected) => {
  expect(estimateMedian(values)).toEqual(expected);
});

test.each([
  [[782.4, 772, 1815], 'ms', '782 ms (772–1,815)'],
  [[0.8842], '', '0.884'],
  [[], 'ms', '–'],
])('%j is shown with three digits that mean something', (values, unit, shown) => {
  expect(estimateText(estimateMedian(values), unit)).toBe(shown);
});
