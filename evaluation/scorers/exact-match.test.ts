import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactMatch } from './exact-match.ts';
import { anyText } from './testing/any-text.ts';

it('ignores white space around, and nothing else (MP-62)', () => {
  expect(exactMatch(' Oslo\n', 'Oslo')).toBe(1);
  expect(exactMatch('oslo', 'Oslo')).toBe(0);
  expect(exactMatch('Oslo.', 'Oslo')).toBe(0);
  expect(exactMatch('New  York', 'New York')).toBe(0);
  expect(exactMatch('', ' ')).toBe(1);
});

it('finds every text equal to itself, lone surrogates and NULs included', () => {
  fc.assert(fc.property(anyText, (value) => exactMatch(value, `\t${value}\n`) === 1));
});
