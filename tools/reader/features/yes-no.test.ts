import { expect, test } from 'vitest';
import { parseQuestion } from '../question.ts';
import { answerYesNo } from './yes-no.ts';

const answer = (question: string, ...texts: string[]) =>
  answerYesNo(
    parseQuestion(question),
    texts.map((text) => ({ chunk: 0, text, score: 0 })),
  );

test.each([
  ['Is smoking permitted on the terrace?', 'Smoking is not permitted on the terrace.', 'no'],
  ['Is smoking permitted on the terrace?', 'Smoking is permitted on the terrace.', 'yes'],
  ['Was the proposal rejected?', 'The proposal was accepted.', 'no'],
  ['Was the proposal not accepted?', 'The proposal was turned down.', 'yes'],
  ['Does the price include breakfast?', 'The price excludes breakfast.', 'no'],
  ['Is the pool heated to 30 degrees?', 'The pool is heated to 27 degrees.', 'no'],
  ['Did she accept the offer?', 'She accepted the offer without conditions.', 'yes'],
])('%s %s', (question, text, expected) => {
  expect(answer(question, 'The weather was fine.', text)?.answer).toBe(expected);
});

test.each([
  ['Are paper towels suitable for filtering?', 'Paper towels are unsuitable.', 'no'],
  ['Was anyone hurt in the gale?', 'No one was hurt.', 'no'],
  ['Did the Halcyon spare any canvas?', 'She could not spare any canvas.', 'no'],
])('what a sentence leaves unsaid does not stop an answer: %s %s', (question, text, expected) => {
  const given = answer(question, text);
  expect(given?.answer).toBe(expected);
  expect(given?.chance).toBeGreaterThan(0.29);
});

test('a text about something else has no chance', () => {
  expect(answer('Is smoking permitted on the terrace?', 'The weather was fine.')?.chance).toBe(0);
});

test('what is said of another number in the sentence does not count', () => {
  expect(answer('Is line 9 diverted?', 'Line 7 is diverted; line 9 is not affected.')?.answer).toBe('no');
});
