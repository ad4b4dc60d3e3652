import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseNumber, sumDecimals } from './number.ts';

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

test('sums are exact', () => {
  expect(sumDecimals([0.1, 0.2])).toBe(0.3);
  expect(sumDecimals([1e15, 0.1, -1e15])).toBe(0.1);
  expect(sumDecimals([0.30000000000000004, 1e-7])).toBe(0.3000001);
  expect(sumDecimals([])).toBe(0);
  expect(sumDecimals([Number.MAX_SAFE_INTEGER, 1])).toBe(2 ** 53);
  expect(sumDecimals([1e308, 1e308])).toBe(Number.POSITIVE_INFINITY);
});

test('a sum of amounts in cents is the sum of the cents, in any order', () => {
  const cents = fc.array(fc.integer({ min: -10_000_000, max: 10_000_000 }), { maxLength: 50 });
  fc.assert(
    fc.property(cents, (amounts) => {
      const sum = amounts.reduce((total, amount) => total + amount, 0) / 100 + 0;
      expect(sumDecimals(amounts.map((amount) => amount / 100))).toBe(sum);
      expect(sumDecimals(amounts.toReversed().map((amount) => amount / 100))).toBe(sum);
    }),
    { seed: 37 },
  );
});
