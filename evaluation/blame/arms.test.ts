import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import { buildBranchFile, createReplacers, listArms } from './arms.ts';
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
const question = { question: 'Who built the bridge at Orra?', truths: ['Ida Lund'] };
const MESSAGES = [
  message(1, { plan: 'read it' }, { type: 'plan.result' }),
  message(2, { text: 'Built in 1921.\nFINAL ANSWER: Bo Ek', data: { answer: 'Bo Ek' } }),
  message(3, { answer: 'Bo Ek' }, { type: 'answer', tag: 'final_answer' }),
];
const other = { from: 'a', to: 'b', type: 'work.result', payload: { text: 'FINAL ANSWER: 7' } };
const replacers = createReplacers(question, 'Bo Ek', { others: [{ ...other, from: 'c' }, other] });

test('each message is kept; truth, another question’s and nothing stand in its place where that can be made', () => {
  const arms = listArms({ messages: MESSAGES }, replacers);

  expect(arms.map(({ taskId }) => taskId)).toEqual([
    ...[0, 1, 2, 3].flatMap((place) => [`branch-${place}-kept`, `branch-${place}-fresh`]),
    ...['branch-2-truth', 'branch-2-other', 'branch-2-neutral'],
  ]);
  const instead = (says: string) => arms.find((arm) => arm.says === says)?.instead;
  expect(instead('truth')).toEqual({
    text: 'Built in 1921.\nFINAL ANSWER: Ida Lund',
    data: { answer: 'Ida Lund' },
  });
  expect(instead('other')).toEqual({ text: 'FINAL ANSWER: 7' });
  expect(instead('neutral')).toEqual({
    text: expect.stringMatching(/^.* in unknown\.\nFINAL ANSWER: unknown$/),
    data: { answer: 'unknown' },
  });
});

test('agents are told of every try of every arm', () => {
  const arms = listArms({ messages: MESSAGES }, { truth: replacers.truth });
  const file = buildBranchFile(
    { messages: MESSAGES, replies: {}, others: [], team: 't' },
    arms,
    ({ taskId }) => [taskId, `${taskId}#2`],
  );

  expect(Object.keys(file.tasks)).toHaveLength(18);
  expect(file.tasks['branch-2-truth#2']).toEqual({ keep: 2, instead: expect.any(Object) });
  expect(file.packets[1]).not.toHaveProperty('id');
});
