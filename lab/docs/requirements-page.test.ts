import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/cli/testing/cli.ts';
import { writtenFile } from '@gaia-mesh/cli/testing/team-file.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { fillRequirementsPage } from './requirements-page.ts';

const FOLDERS = ['core', 'protocols', 'tools', 'evaluation', 'config', 'scripts', 'lab'];

/** Returns which of these requirements a test file with this source is found to hold. */
function heldBy(source: string, ids: readonly string[]): string[] {
  const root = temporaryFolder();
  for (const folder of FOLDERS) mkdirSync(path.join(root, folder));
  writtenFile(path.join(root, 'core'), 'own.test.ts', source);
  const { page, open } = fillRequirementsPage(root, ids.map((id) => `| ${id} | what | – |`).join('\n'));
  for (const line of page.split('\n')) expect(line).toMatch(/\| (?:–|\[own\]\(.*core\/own\.test\.ts\)) \|$/);
  return ids.filter((id) => !open.includes(id));
}

test.each([
  ['is cut off (RA-21)', ['RA-21']],
  ['keeps what it has (RA-07..10)', ['RA-07', 'RA-08', 'RA-09', 'RA-10']],
  ['asks again (REQ-031 to REQ-033, REQ-069a)', ['REQ-031', 'REQ-032', 'REQ-033', 'REQ-069a']],
  ['lists (RA-30–32, 38)', ['RA-30', 'RA-31', 'RA-32', 'RA-38']],
  ['names none', []],
])('a test that %s holds the requirements in its title', (title, ids) => {
  const others = ['RA-06', 'RA-11', 'RA-20', 'RA-22', 'RA-33', 'REQ-034', 'REQ-069b'];
  expect(heldBy(`test('${title}', () => {});`, [...ids, ...others])).toEqual(ids);
});

test('titles are found in every way that tests are written', () => {
  const source = `describe('MP-901', () => { test("MP-902's", x); test.each([[1, ')']])('MP-903 %s', x); test.each([\n  1,\n])(\n 'MP-904', x); test.each(\n  f(1),\n)('MP-905', x); it.skipIf(y(1))(\`MP-906\`, x); f('MP-907') })`;
  const ids = ['MP-901', 'MP-902', 'MP-903', 'MP-904', 'MP-905', 'MP-906'];

  expect(heldBy(source, [...ids, 'MP-907'])).toEqual(ids);
});

test('lab/docs/requirements.md says which tests hold each requirement (npm run docs)', () => {
  const page = readFileSync(path.join(codeFolder, 'lab', 'docs', 'requirements.md'), 'utf8');
  const filled = fillRequirementsPage(codeFolder, page);

  expect(filled.requirements).toBeGreaterThan(190);
  expect(filled.page).toBe(page);
});
