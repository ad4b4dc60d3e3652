import { expect, test } from 'vitest';
import { attemptOf } from '../batch/testing/results.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import { AttemptSum } from './figures.ts';

/** The interval of exact matches after each question was tried as often as its list has results. */
function intervalOf(questions: readonly (readonly number[])[]) {
  const sum = new AttemptSum();
  for (const [index, results] of questions.entries())
    for (const [cycle, normalized_em] of results.entries())
      sum.add(attemptOf(`q-${index}`, { cycle: cycle + 1, normalized_em }), true);
  return sum.interval;
}

test('attempts that repeat each other tell no more than one attempt at each question', () => {
  const once = Array.from({ length: 20 }, (_, index) => [index % 2]);
  const often = once.map(([result = 0]) => [result, result, result, result]);
  const [single, repeated] = [intervalOf(once), intervalOf(often)];

  expect(single).toEqual(computeWilson(10, 20));
  expect(repeated?.low).toBeLessThanOrEqual(single?.low ?? 0);
  expect(repeated?.high).toBeGreaterThanOrEqual(single?.high ?? 1);
});

test('repeats of a single question say nothing about others', () => {
  expect(intervalOf([[1, 1]])).toEqual({ low: 0, high: 1 });
});

test('a question that an interrupted batch tried less often counts by its share of right attempts', () => {
  const whole = Array.from({ length: 12 }, (_, index) => [index % 2, index % 2]);
  expect(intervalOf([...whole, [1]])).toEqual(intervalOf([...whole, [1, 1]]));
});
