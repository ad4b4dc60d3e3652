import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { codeFolder, findPackageFolders, listReadablePaths } from './package-root.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Creates `folder` and returns the folders where Node looks for its packages, relative to the root of the test. */
function storesOf(folder: string): string[] {
  const whole = path.join(root, folder);
  mkdirSync(whole, { recursive: true });
  return findPackageFolders(whole)
    .filter((store) => store.startsWith(root))
    .map((store) => path.relative(root, store).replaceAll(path.sep, '/'));
}

test('an installed package finds its packages beside it, and its own before them', () => {
  expect(storesOf('app/node_modules/gaia-mesh')).toEqual(['app/node_modules']);

  mkdirSync(path.join(root, 'app/node_modules/gaia-mesh/node_modules'));
  expect(storesOf('app/node_modules/gaia-mesh')).toEqual([
    'app/node_modules/gaia-mesh/node_modules',
    'app/node_modules',
  ]);
});

test('a package in a workspace or in the store of pnpm finds them further up', () => {
  expect(storesOf('mono/node_modules/.pnpm/gaia-mesh@1.0.0/node_modules/gaia-mesh')).toEqual([
    'mono/node_modules/.pnpm/gaia-mesh@1.0.0/node_modules',
    'mono/node_modules',
  ]);
});

test('agents may read code and packages, and not the folder above them', () => {
  const readable = listReadablePaths();

  expect(readable).toContain(path.join(codeFolder, 'node_modules') + path.sep);
  expect(readable).not.toContain(codeFolder + path.sep);
  // Without a separator at its end, a path would also permit folders whose names begin with it.
  for (const item of readable) expect(item.endsWith(path.sep) || path.extname(item) === '.json').toBe(true);
});

test('a process with few rights, as an agent of an installed package, hands its own on to its children', async () => {
  const store = path.join(root, 'hoisted', 'node_modules');
  const code = path.join(store, 'gaia-mesh');
  mkdirSync(path.join(code, 'dist'), { recursive: true });
  const granted = [
    path.join(code, 'dist'),
    store,
    path.join(codeFolder, 'core'),
    path.join(codeFolder, 'package.json'),
  ];
  const script = `import { findPackageFolders } from ${JSON.stringify(import.meta.resolve('./package-root.ts'))};
    console.log(findPackageFolders(${JSON.stringify(code)}).join());`;
  const file = path.join(code, 'dist', 'agent.mjs');
  writeFileSync(file, script);

  const { stdout } = await promisify(execFile)(process.execPath, [
    '--permission',
    ...granted.map((name) => `--allow-fs-read=${name}${name.endsWith('.json') ? '' : path.sep}`),
    file,
  ]);

  expect(stdout.trim()).toBe(store + path.sep);
});
