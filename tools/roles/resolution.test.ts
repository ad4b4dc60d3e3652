import { expect, test } from 'vitest';
import { conclude } from './conclude.ts';
import { resolutionOf } from './resolution.ts';

const FAILED = [
  { by: 'execute', kind: 'tool', tool: 'wikipedia', text: 'no network', failed: true },
] as const;

test.each([
  ['the truth', 'FINAL ANSWER: heron', ['heron'], 'correct'],
  ['one of several truths', 'FINAL ANSWER: grey heron', ['heron', 'grey heron'], 'correct'],
  ['a number in its plain form', 'FINAL ANSWER: 1,234', ['1234'], 'correct'],
  [
    'a right word in a sentence of its own form',
    'FINAL ANSWER: the Grey-Heron!',
    ['grey heron'],
    'format_error',
  ],
  ['a right number with its unit', 'FINAL ANSWER: 17 km', ['17'], 'format_error'],
  ['the number with another sign', 'FINAL ANSWER: -5', ['5'], 'reasoning_gap'],
  ['another number', 'FINAL ANSWER: 18 km', ['17'], 'reasoning_gap'],
  ['two numbers', 'FINAL ANSWER: 17 or 18', ['17'], 'reasoning_gap'],
  ['something else', 'FINAL ANSWER: crow', ['heron'], 'reasoning_gap'],
] as const)('an attempt that ends with %s has its reason (OV-34, OV-41)', (_, text, truths, expected) => {
  const answered = { text, ended: 'answer' } as const;
  const { answer } = conclude('Say it.', answered);

  expect(resolutionOf(answer, answered, truths, [])).toBe(expected);
});

test('a form that was fitted before scoring is no fault of form (OV-07)', () => {
  const answered = { text: 'FINAL ANSWER: 1,234 apples', ended: 'answer' } as const;
  const { answer, raw } = conclude('How many apples are there?', answered);

  expect(answer).toBe('1234');
  expect(raw).toBe('FINAL ANSWER: 1,234 apples');
  expect(resolutionOf(answer, answered, ['1234'], [])).toBe('correct');
});

test.each([
  ['the limit of turns before a failed tool', 'limit', FAILED, 'tool_limit'],
  ['a failed tool', 'answer', FAILED, 'retrieval_failure'],
  ['a wrong end of the thought', 'answer', [], 'reasoning_gap'],
  ['giving up', 'gave_up', [], 'reasoning_gap'],
  ['giving up after a failed tool', 'gave_up', FAILED, 'retrieval_failure'],
] as const)('a wrong attempt is one of %s (OV-34)', (_, ended, entries, expected) => {
  const answered = { text: 'FINAL ANSWER: crow', ended };
  const { answer } = conclude('Say it.', answered);

  expect(resolutionOf(answer, answered, ['heron'], entries)).toBe(expected);
});
