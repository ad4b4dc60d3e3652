import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import { buildBranchFile, listArms, withTruth } from './arms.ts';
import type { Message } from './recorded-question.ts';

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
const arms = listArms({ messages: MESSAGES }, ({ payload }) => withTruth(payload, 'Bo Ek', 'Ida Lund'));

test('each message is kept, and the truth stands in its place where it can', () => {
  expect(arms.map(({ taskId }) => taskId)).toEqual([
    ...[0, 1, 2, 3].flatMap((place) => [`branch-${place}-kept`, `branch-${place}-fresh`]),
    'branch-2-truth',
  ]);
  expect(arms.at(-1)?.instead).toEqual({
    text: 'Built in 1921.\nFINAL ANSWER: Ida Lund',
    data: { answer: 'Ida Lund' },
  });
});

test('agents are told of every try of every arm', () => {
  const file = buildBranchFile({ messages: MESSAGES, replies: {}, team: 't' }, arms, ({ taskId }) => [
    taskId,
    `${taskId}#2`,
  ]);

  expect(Object.keys(file.tasks)).toHaveLength(18);
  expect(file.tasks['branch-2-truth#2']).toEqual({ keep: 2, instead: expect.any(Object) });
  expect(file.packets[1]).not.toHaveProperty('id');
});
