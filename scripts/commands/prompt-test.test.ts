import { expect, test } from 'vitest';
import { diffLines } from './prompt-test.ts';

/** As a person writes it. */
function shown(before: string, after: string): string[] {
  const marks = { same: ' ', old: '-', new: '+' } as const;
  return diffLines(before, after).map(({ kind, text }) => marks[kind] + text);
}

test.each([
  ['the same', 'a\nb', 'a\nb', [' a', ' b']],
  ['a changed line', 'a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
  ['an added line', 'a\nc', 'a\nb\nc', [' a', '+b', ' c']],
  ['a removed line', 'a\nb\nc', 'a\nc', [' a', '-b', ' c']],
  ['nothing in common', 'a', 'b', ['-a', '+b']],
  ['nothing before', '', 'b', ['-', '+b']],
])('texts with %s', (_, before, after, expected) => {
  expect(shown(before, after)).toEqual(expected);
});

test('texts of very many lines are compared as far as anybody reads', () => {
  const long = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join('\n');

  expect(shown(long, long)).toHaveLength(501);
  expect(shown(long, long).at(-1)).toBe(' [19500 more lines]');
});
