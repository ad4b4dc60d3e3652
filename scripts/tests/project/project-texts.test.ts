import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder, packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

const names = z.record(z.string(), z.string());
const packageSchema = z.object({
  dependencies: names,
  optionalDependencies: names,
  devDependencies: names,
  scripts: names,
  license: z.string(),
  author: z.string(),
});

const { dependencies, optionalDependencies, devDependencies, scripts, license, author } = packageSchema.parse(
  JSON.parse(text('package.json')),
);

function text(file: string): string {
  return readFileSync(path.join(codeFolder, file), 'utf8');
}

test.each(Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }))(
  'docs/dependencies.md says why %s is here',
  (name) => {
    expect(text('docs/dependencies.md')).toContain(`\`${name}\``);
  },
);

test('docs/dependencies.md names no package in its tables that is gone', () => {
  const rows = text('docs/dependencies.md').matchAll(/^\| ((?:`[^`]+`[^`|]*)+) \|/gm);
  const named = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]),
  );

  expect(named.length).toBeGreaterThan(10);
  const known = { ...dependencies, ...devDependencies, 'js-rouge': '' };
  const foreign = [
    text('protocols/stacks/languages/python/requirements.txt'),
    text('protocols/stacks/go.mod'),
  ].flatMap((pins) => [...pins.matchAll(/^\s*([^\s=#]+)(?:==| v)/gm)].map((match) => match[1]));
  expect(named.filter((name) => !Object.hasOwn(known, name ?? '') && !foreign.includes(name))).toEqual([]);
});

test('the newest version in CHANGELOG.md is that of the package', () => {
  const versions = [...text('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/gm)];

  expect(versions[0]?.[1]).toBe(packageVersion);
});

test('CITATION.cff cites this version of the package', () => {
  const released = new RegExp(`^## \\[${packageVersion}\\] - (.+)$`, 'm').exec(text('CHANGELOG.md'))?.[1];

  expect(parse(text('CITATION.cff'))).toMatchObject({
    'cff-version': '1.2.0',
    title: 'Gaia Mesh',
    version: packageVersion,
    'date-released': released,
    license,
    authors: [{ name: author }],
  });
});

test('npm’s shell is replaced by what it starts: it passes no signal on, and would leave a command behind', () => {
  const commands = Object.values(scripts).filter((script) => /(?:gaia-mesh|lab)\.js [a-z-]+$/.test(script));

  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((script) => !script.startsWith('exec node '))).toEqual([]);
});
