import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readCacheFile, writeCacheFile } from './cache-file.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder: string;
let file: string;
let warnings: string[];
beforeEach(() => {
  folder = mkdtempSync(path.join(root, 'cache-'));
  file = path.join(folder, 'agent_cache.json');
  warnings = [];
});
const read = () => readCacheFile(file, (text) => warnings.push(text));

test('the file is a JSON object {question: answer}, and is read as it was written (RA-07)', () => {
  const answers = new Map([
    ['How old?', '42'],
    ['__proto__', 'a question like any other'],
    ['“Ünï”\n\0', ''],
  ]);
  writeCacheFile(file, answers);
  expect(JSON.parse(readFileSync(file, 'utf8'))['How old?']).toBe('42');
  expect(read()).toEqual(answers);
  expect(readdirSync(folder)).toEqual(['agent_cache.json']);
  expect(warnings).toEqual([]);
});

test('no file is an empty cache without a word', () => {
  expect(read()).toEqual(new Map());
  expect(warnings).toEqual([]);
});

test('its folder is made', () => {
  file = path.join(folder, 'a', 'b', 'answers.json');
  writeCacheFile(file, new Map([['q', 'a']]));
  expect(read().size).toBe(1);
});

test.each([
  ['garbage', '\0\xff garbage'],
  ['nothing', ''],
  ['a torn file', '{"q": "a", "r'],
])('%s: the file is set aside, the cache starts empty, and the user is told (RA-09)', (_, text) => {
  for (const n of [1, 2]) {
    writeFileSync(file, text);
    expect(read()).toEqual(new Map());
    expect(warnings.splice(0)).toEqual([expect.stringContaining(`it was set aside as ${file}.corrupt-${n}`)]);
    expect(readFileSync(`${file}.corrupt-${n}`, 'utf8')).toBe(text);
  }
  writeCacheFile(file, new Map([['q', 'a']]));
  expect(read()).toEqual(new Map([['q', 'a']]));
});

test.each([
  ['a list', 'cache.json', '["a"]', 'found a list'],
  ['null', 'cache.json', 'null', 'found null'],
  [
    'a document of other values',
    'package.json',
    '{"q": "a", "r": {"x": 1}}',
    'a key "r" whose value is no text',
  ],
  ['a text of another kind', 'README.md', '# A project', 'text that is not JSON'],
])('%s belongs to something else: it is refused and stays where it is', (_, name, text, found) => {
  file = path.join(folder, name);
  writeFileSync(file, text);
  expect(read).toThrow(found);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(folder)).toEqual([name]);
});

test('what cannot be read is an error with its reason, and stays where it is', () => {
  mkdirSync(file);
  expect(read).toThrow(`answer cache ${file}: it is a folder`);
  expect(() => writeCacheFile(file, new Map())).toThrow(`${file} cannot be written: `);
  expect(readdirSync(folder)).toEqual(['agent_cache.json']);
});

test('a file that is larger than any cache is refused unread', () => {
  writeFileSync(file, '');
  truncateSync(file, STORE_LIMITS.cacheFileBytes + 1);
  expect(read).toThrow(/bytes, larger than \d+/);
});

test('a process that is killed while it writes leaves the old answers or the new ones (RA-07)', async () => {
  const script = `
    import { writeCacheFile } from ${JSON.stringify(new URL('./cache-file.ts', import.meta.url).href)};
    for (let round = 0; ; round++) {
      writeCacheFile(process.argv[1], new Map(Array.from({ length: 5000 }, (_, i) => ['q' + i, 'answer ' + round])));
      process.stdout.write(round + '\\n');
    }`;
  for (const rounds of [1, 2, 3]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let written = 0;
    child.stdout.on('data', (data: Buffer) => {
      written += data.toString().split('\n').length - 1;
      if (written >= rounds) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const answers = read();
    expect(answers.size).toBe(5000);
    expect(new Set(answers.values()).size).toBe(1);
  }
  expect(warnings).toEqual([]);
});
