import { expect, it } from 'vitest';
import { measureStyle } from './measure-style.ts';

const folders = new Map([['@gaia-mesh/core', 'core']]);

function measure(sources: Record<string, string>, subjects: readonly string[] = []) {
  return measureStyle(new Map(Object.entries(sources)), folders, subjects);
}

it('counts comments without a subject, and takes questions for sentences', () => {
  const text = [
    '/** Whether it is open. */',
    '/** What is it? */',
    '/** Returns true if it is open. */',
    '// Of the file.',
    '',
  ].join('\n');
  const { figures, findings } = measure({ 'a.ts': text });

  expect(figures.headless_comments_percent).toBe(50);
  expect(findings.map((finding) => finding.text)).toEqual([
    'a.ts: Whether it is open.',
    'a.ts: Of the file.',
  ]);
});

it('counts functions named by a preposition, and not verbs that end in one', () => {
  const text = 'export function faultsOf() {}\nfunction readFrom() {}\nasync function parseFaults() {}\n';
  expect(measure({ 'a.ts': text }).figures.prepositional_names_percent).toBeCloseTo(33.3);
});

it('counts spreads that pack properties or leave one out', () => {
  const text = 'const a = {\n  ...{ b, c },\n  ...(d === undefined ? {} : { d }),\n  ...e,\n};\n';
  expect(measure({ 'a.ts': text }).figures).toMatchObject({ packing_spreads: 1, conditional_spreads: 1 });
});

it('counts declarations that are exported, and no lists of others', () => {
  const text = "export const a = 1;\nexport type B = 2;\nexport { c } from './c.ts';\nconst d = 3;\n";
  expect(measure({ 'a.ts': text }).figures.exports).toBe(2);
});

it('counts small files that one other file imports, across packages, too', () => {
  const sources = {
    'core/small.ts': 'export const a = 1;\n',
    'core/large.ts': 'export const b = 1;\n'.repeat(61),
    'core/shared.ts': 'export const c = 1;\n',
    'lab/user.ts':
      "import { a } from '@gaia-mesh/core/small.ts';\nimport { b } from '@gaia-mesh/core/large.ts';\nimport '../core/shared.ts';\n",
    'lab/other.ts': "import { c } from '@gaia-mesh/core/shared.ts';\n",
  };
  const { figures, findings } = measure(sources);

  expect(figures.small_single_importer_files).toBe(1);
  expect(findings.at(-1)?.text).toBe('core/small.ts: only lab/user.ts imports it');
});

it('finds files that import each other, types included', () => {
  const sources = {
    'a.ts': "import type { B } from './b.ts';\n",
    'b.ts': "import { c } from './c.ts';\n",
    'c.ts': "const a = await import('./a.ts');\n",
    'd.ts': "import { c } from './c.ts';\n",
  };
  const { figures, findings } = measure(sources);

  expect(figures.import_cycles).toBe(1);
  expect(
    findings
      .find(({ figure }) => figure === 'import_cycles')
      ?.text.split(' ↔ ')
      .toSorted(),
  ).toEqual(['a.ts', 'b.ts', 'c.ts']);
});

it.each([
  ['hub: remove task copies', 0],
  ['compare: report the null arm’s interval', 0],
  ['The hub has no copies any more', 1],
  ['hub: Remove task copies', 1],
  [`hub: remove ${'x'.repeat(61)}`, 1],
])('takes "%s" for a subject: %i bad', (subject, bad) => {
  expect(measure({}, [subject]).figures.bad_commit_subjects).toBe(bad);
});
