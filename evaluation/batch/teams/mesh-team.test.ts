import { expect, test } from 'vitest';
import { outlineFile } from './mesh-team.ts';

const outline = (name: string, text: string, hasText = false) =>
  outlineFile({ name, bytes: 1234, text, hasText });

test('the outline of a workbook names its sheets and shows how it begins', () => {
  const text = `## Sheet "A": 2 rows, 1 column\n| x |\n## Sheet "B": 1 row\n${'| y |\n'.repeat(500)}`;

  expect(outline('w.xlsx', text)).toMatch(
    /^table, 1234 bytes, parts: Sheet "A": 2 rows, 1 column; Sheet "B": 1 row; it begins:\n## Sheet "A"[\s\S]* …\n$/,
  );
  expect(outline('w.xlsx', text).length).toBeLessThan(700);
});

test.each([
  ['r.pdf', '--- page 1 ---\na\n--- page 2 ---\nb', true, 'text, 1234 bytes, 2 pages'],
  ['n.txt', 'heron', false, 'text, 1234 bytes; it says:\nheron\n'],
  ['p.png', '', false, 'picture, 1234 bytes'],
  ['x.qqq', '', false, 'a file of a kind that no tool is known for, 1234 bytes'],
])('the outline of %s says what is known of it', (name, text, hasText, expected) => {
  expect(outline(name, text, hasText)).toBe(expected);
});
