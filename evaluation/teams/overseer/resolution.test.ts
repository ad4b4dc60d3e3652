import { conclude } from '@gaia-mesh/tools/roles/answer/answered.ts';
import { classifyResolution } from '@gaia-mesh/tools/roles/overseer/resolution.ts';
import { expect, test } from 'vitest';
import { isGaiaCorrect } from '../../scorers/gaia.ts';

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
  const { answer } = conclude(answered);

  expect(classifyResolution(answer, answered, truths, [], isGaiaCorrect)).toBe(expected);
});

test('what surrounds an answer is taken off before scoring, and is no fault of form (OV-07)', () => {
  const answered = { text: 'FINAL ANSWER: **“grey heron”**.', ended: 'answer' } as const;
  const { answer, raw } = conclude(answered);

  expect(answer).toBe('grey heron');
  expect(raw).toBe('FINAL ANSWER: **“grey heron”**.');
  expect(classifyResolution(answer, answered, ['grey heron'], [], isGaiaCorrect)).toBe('correct');
});

const call = (tool: string, failed: boolean) =>
  ({ by: 'execute', kind: 'tool', tool, text: 'as it was', ...(failed ? { failed } : {}) }) as const;

test.each([
  ['a wrong sheet that was mended', [call('read_excel', true), call('read_excel', false)], 'reasoning_gap'],
  [
    'a search that another source stood in for',
    [call('wikipedia', true), call('fetch_page', false)],
    'reasoning_gap',
  ],
  ['a search in vain, and a sum', [call('wikipedia', true), call('calculator', false)], 'retrieval_failure'],
  [
    'a program with a mistake that was mended',
    [call('python_repl', true), call('python_repl', false)],
    'reasoning_gap',
  ],
  ['a program that never ran', [call('read_file', false), call('python_repl', true)], 'tool_limit'],
] as const)('a wrong attempt with %s is filed by what was observed (OV-34)', (_, entries, expected) => {
  const answered = { text: 'FINAL ANSWER: crow', ended: 'answer' } as const;

  expect(classifyResolution('crow', answered, ['heron'], entries, isGaiaCorrect)).toBe(expected);
});

test.each([
  ['the limit of turns before a failed tool', 'limit', FAILED, 'tool_limit'],
  ['a failed tool', 'answer', FAILED, 'retrieval_failure'],
  ['a wrong end of the thought', 'answer', [], 'reasoning_gap'],
  ['giving up', 'gave_up', [], 'reasoning_gap'],
  ['giving up after a failed tool', 'gave_up', FAILED, 'retrieval_failure'],
] as const)('a wrong attempt is one of %s (OV-34)', (_, ended, entries, expected) => {
  const answered = { text: 'FINAL ANSWER: crow', ended };
  const { answer } = conclude(answered);

  expect(classifyResolution(answer, answered, ['heron'], entries, isGaiaCorrect)).toBe(expected);
});
