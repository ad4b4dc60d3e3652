import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * Builds the package that is published, `dist/` (`npm publish ./dist`): Node strips no types below `node_modules`, so it is JavaScript
 * with declarations beside it. The layout is that of the sources, so code finds its assets by the same relative paths. It has a README of
 * its own: that of the repository is about a checkout.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const SOURCE_FOLDERS = ['core', 'protocols', 'tools', 'evaluation', 'config', 'scripts'];
/** Folders that `tsconfig.build.json` leaves out, too: they are for those who work on the project. */
const LEFT_OUT = ['testing', 'fixtures'];
/** Keys of `package.json` that are about work on the project. */
const ONLY_HERE = ['private', 'scripts', 'devDependencies', 'allowScripts', 'overrides'];
/** Files beside the folders, by their names in the repository and in the package. */
const TEXTS = {
  'PACKAGE.md': 'README.md',
  'CHANGELOG.md': 'CHANGELOG.md',
  LICENSE: 'LICENSE',
  NOTICE: 'NOTICE',
};

rmSync(dist, { recursive: true, force: true });
compile();
for (const table of ['o200k.js', 'cl100k.js']) await inline(path.join(dist, 'core', 'tokens', table));
const assets = copyAssets();
for (const [from, to] of Object.entries(TEXTS)) copyFileSync(path.join(root, from), path.join(dist, to));
writeFileSync(path.join(dist, 'package.json'), manifest());
// npm sets it for an installed command; this is for those who start it from here.
chmodSync(path.join(dist, 'scripts', 'gaia-mesh.js'), 0o755);
console.error(`built ${path.relative(process.cwd(), dist) || dist} with ${assets} assets`);

function compile(): void {
  // Its command is not among the package's exports, so it is found from its main file.
  const typescript = path.dirname(fileURLToPath(import.meta.resolve('typescript')));
  const args = [
    path.join(typescript, '..', 'bin', 'tsc'),
    '--project',
    path.join(root, 'tsconfig.build.json'),
  ];
  const { status, error } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Puts what a module imports into it: of a package of 30 MB one table is needed. */
async function inline(file: string): Promise<void> {
  const built = await rolldown({ input: file, platform: 'node' });
  const { output } = await built.generate({ format: 'esm', codeSplitting: false });
  writeFileSync(file, output[0].code);
}

/** What a user needs of `package.json`, with paths as they are from `dist/`. */
function manifest(): string {
  const all: object = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const published = Object.fromEntries(Object.entries(all).filter(([key]) => !ONLY_HERE.includes(key)));
  return `${JSON.stringify(published, null, 2).replaceAll(/"(\.\/)?dist\//g, '"$1')}\n`;
}

/** Everything in the source folders that is not TypeScript is an asset: a new one cannot be forgotten. */
function copyAssets(): number {
  const files = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts') && !entry.name.startsWith('.'))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  ).filter((file) => !file.split(path.sep).some((part) => LEFT_OUT.includes(part)));
  for (const file of files) {
    const target = path.join(dist, file);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(path.join(root, file), target);
  }
  return files.length;
}
