import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import type { Message } from './recorded-question.ts';
import { Trials } from './trials.ts';

const message = (place: number, payload: JsonObject, more: Partial<Message> = {}): Message => ({
  place,
  id: `a-${place}`,
  from: 'a',
  to: 'b',
  type: 'work.result',
  payload,
  ...more,
});
const MESSAGES = [
  message(1, { plan: 'read it' }, { type: 'plan.result' }),
  message(2, { text: 'Built in 1921.\nFINAL ANSWER: Bo Ek', data: { answer: 'Bo Ek' } }),
  message(3, { answer: 'Bo Ek' }, { type: 'answer', tag: 'final_answer' }),
];
const trials = new Trials(
  {
    question: { truths: ['Ida Lund'] },
    recorded: { messages: MESSAGES, replies: {}, team: 't' },
    answer: { text: 'Bo Ek' },
  },
  () => [],
);

test('each message is kept, and the truth stands in its place where it can', () => {
  expect(trials.arms.map(({ taskId }) => taskId)).toEqual([
    ...[0, 1, 2, 3].flatMap((place) => [`branch-${place}-kept`, `branch-${place}-fresh`]),
    'branch-2-truth',
  ]);
  expect(trials.arms.at(-1)?.instead).toEqual({
    text: 'Built in 1921.\nFINAL ANSWER: Ida Lund',
    data: { answer: 'Ida Lund' },
  });
});

test('agents are told of every try of every arm', () => {
  const file = trials.buildBranchFile();
  const { clearTries, freshTries } = BLAME_LIMITS;

  expect(Object.keys(file.tasks)).toHaveLength(4 * freshTries + 5 * clearTries);
  expect(file.tasks['branch-2-truth']).toEqual(file.tasks[`branch-2-truth#${clearTries}`]);
  expect(file.tasks['branch-2-truth#2']).toEqual({ keep: 2, instead: expect.any(Object) });
  expect(file.packets[1]).not.toHaveProperty('id');
});
