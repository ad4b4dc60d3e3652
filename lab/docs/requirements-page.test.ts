import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { findIds, findRequirementTests, findTitles, withTests } from './requirements-page.ts';

describe('a title', () => {
  test.each([
    ['is cut off (RA-21)', ['RA-21']],
    ['keeps what it has (RA-07..10)', ['RA-07', 'RA-08', 'RA-09', 'RA-10']],
    ['asks again (REQ-031 to REQ-033, REQ-069a)', ['REQ-031', 'REQ-032', 'REQ-033', 'REQ-069a']],
    ['names none', []],
  ])('%s names its ids', (title, ids) => {
    expect([...findIds(title)].sort()).toEqual(ids);
  });

  test('is found in every way that tests are written', () => {
    const source = `describe('a', () => { test("b's", x); test.each([[1, ')']])('c %s', x); test.each([\n  1,\n])(\n 'd', x); test.each(\n  f(1),\n)('g', x); it.skipIf(y(1))(\`e\`, x) })`;

    expect(new Set(findTitles(source))).toEqual(new Set(['a', "b's", 'c %s', 'd', 'e', 'g']));
  });
});

test('lab/docs/requirements.md says which tests hold each requirement (npm run docs)', () => {
  const page = readFileSync(path.join(codeFolder, 'lab', 'docs', 'requirements.md'), 'utf8');
  const requirements = findRequirementTests(codeFolder, page);

  expect(requirements.length).toBeGreaterThan(190);
  expect(withTests(page, requirements)).toBe(page);
});
