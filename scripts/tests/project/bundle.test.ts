import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeFolder } from '../../../core/system/package-root.ts';
import { linkPackages } from '../../testing/link-packages.ts';

let checkout: string;
let bundle: string;

beforeAll(() => {
  checkout = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-checkout-'));
  for (const name of [
    'core',
    'protocols',
    'evaluation',
    'lab',
    'tools',
    'config',
    'scripts',
    'package.json',
    'package-lock.json',
  ]) {
    cpSync(path.join(codeFolder, name), path.join(checkout, name), { recursive: true });
  }
  linkPackages(checkout);
  expect(node('bundle.js').status).toBe(0);
  bundle = path.join(checkout, 'node_modules', '.cache', 'gaia-mesh', 'bundle');
  appendFileSync(path.join(bundle, 'main.js'), '\nconsole.error("this is the bundle");\n');
});

afterAll(() => rmSync(checkout, { recursive: true }));

const node = (script: string, ...args: string[]) => nodeIn(process.env, script, ...args);
const nodeIn = (env: NodeJS.ProcessEnv, script: string, ...args: string[]) =>
  spawnSync(process.execPath, [path.join(checkout, 'scripts', script), ...args], { encoding: 'utf8', env });

it.each([
  ['bench', '--help', '--adapter'],
  ['list', 'adapters', 'msgpack'],
])('runs %s from the bundle while the sources are those that it was made of', (command, option, output) => {
  const { stderr, stdout } = node('gaia-mesh.js', command, option);
  expect(stdout).toContain(output);
  expect(stderr).toContain('this is the bundle');
});

it('finds the files of the sources where they are', () => {
  const files = readdirSync(bundle).filter((name) => name.endsWith('.js'));
  expect(files).toContain('main.js');
  const places = files.flatMap((name) => [
    ...readFileSync(path.join(bundle, name), 'utf8').matchAll(
      /new URL\("([^"]+)", import\.meta\.url\)|import\.meta\.dirname \+ "([^"]+)"/g,
    ),
  ]);
  expect(places.length).toBeGreaterThan(10);
  for (const [, url, name] of places) {
    const file = path.join(bundle, url ?? name ?? '');
    expect(existsSync(file), file).toBe(true);
  }
});

it.each([
  ['launched-agent', 12],
  ['bench', 60],
  ['hub', 12],
])('has what %s loads as it starts in at most %i files, and in them no HTTP and no NATS', (start, most) => {
  const entry = (name: string) =>
    readdirSync(bundle).filter(
      (file) => file.startsWith(`${name}-`) && /^.{8}\.js$/.test(file.slice(name.length + 1)),
    );
  const files = new Set(entry(start));
  const packages = new Set<string>();
  for (const file of files) {
    const imports = readFileSync(path.join(bundle, file), 'utf8').matchAll(
      /^import (?:.+ from )?"([^"]+)";$/gm,
    );
    for (const [, name = ''] of imports)
      (name.startsWith('./') ? files : packages).add(name.replace('./', ''));
  }
  expect(files.size).toBeGreaterThan(2);
  expect(files.size).toBeLessThanOrEqual(most);
  expect([...packages]).toContain('node:net');
  expect([...packages].filter((name) => /http|nats|undici|express/.test(name))).toEqual([]);
});

it('runs from the sources once one of them has changed', () => {
  const now = new Date();
  utimesSync(path.join(checkout, 'core', 'contracts', 'packet.ts'), now, now);
  const { stderr, stdout } = node('gaia-mesh.js', 'bench', '--help');
  expect(stdout).toContain('--adapter');
  expect(stderr).not.toContain('bundle');
  // But what a process started that took the bundle goes on with it.
  const env = { ...process.env, GAIA_MESH_BUNDLE: pathToFileURL(path.join(bundle, 'main.js')).href };
  expect(nodeIn(env, 'gaia-mesh.js', 'bench', '--help').stderr).toContain('this is the bundle');
});
