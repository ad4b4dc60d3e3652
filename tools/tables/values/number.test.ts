import { expect, test } from 'vitest';
import { parseNumber } from './number.ts';

test.each([
  ['5', 5],
  ['-5', -5],
  ['\u22125', -5],
  ['+5.50', 5.5],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1,234', 1234],
  ['1,234,567.89', 1234567.89],
  ['1.234,56', 1234.56],
  ['1.234.567', 1234567],
  ['1.234', 1.234],
  ['3,5', 3.5],
  ['1 234', 1234],
  ["1'234", 1234],
  ['1\u00a0234,5', 1234.5],
  ['$5', 5],
  ['-$5', -5],
  ['$-5', -5],
  ['$1,234.50', 1234.5],
  ['5 \u20ac', 5],
  ['USD 12', 12],
  ['(5)', -5],
  ['($1,000)', -1000],
  ['12%', 0.12],
  ['0.1%', 0.001],
])('%j is %d', (text, number) => {
  expect(parseNumber(text)).toBe(number);
});

test.each([
  '',
  ' ',
  'abc',
  '5 km',
  '2024-03-01',
  '10:30',
  '1,2,3',
  '12,34,567',
  '1..2',
  '--5',
  '5-',
  '0x10',
  '1e999',
  'NaN',
  'Infinity',
  '$',
  '%',
  '()',
  '9'.repeat(61),
])('%j is no number', (text) => {
  expect(parseNumber(text)).toBeUndefined();
});

test('what is no text is what it is', () => {
  expect([parseNumber(5), parseNumber(true), parseNumber(null)]).toEqual([5, undefined, undefined]);
  expect(Object.is(parseNumber('-0'), 0)).toBe(true);
});
