import { expect, test } from 'vitest';
import { formatTable, wrapText } from './table.ts';

const wide = [
  ['name', 'first', 'second', 'third'],
  ['x'.repeat(30), '1'.repeat(20), '2'.repeat(20), '3'.repeat(20)],
];

test('a table that is too wide for the terminal loses the columns that matter least, one after the other', () => {
  expect(formatTable(wide, ['second', 'first']).split('\n')[0]).toMatch(/^name +first +third$/);
  for (const line of formatTable(wide, ['second', 'first']).split('\n'))
    expect(line.length).toBeLessThanOrEqual(80);
  expect(formatTable(wide).split('\n')[0]).toMatch(/second/);
  expect(formatTable([['a'], ['1']], ['a'])).toBe('a\n1');
});

test('text is broken between words at 80 columns', () => {
  const lines = wrapText('word '.repeat(60).trim()).split('\n');
  expect(lines.join(' ')).toBe('word '.repeat(60).trim());
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
