import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';
import { sampleKey } from '../testing/samples.ts';
import { storeContract } from '../testing/store-contract.ts';
import { Writer } from '../testing/writer.ts';

const folders: string[] = [];
const stores: Store[] = [];
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function freshFile(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
  folders.push(folder);
  return path.join(folder, 'store.db');
}

function execute(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

async function open(file: string, warnings: string[] = [], busyTimeoutMs?: number): Promise<Store> {
  const store = await openStore(file, {
    warn: (text) => warnings.push(text),
    busyTimeoutMs,
  });
  stores.push(store);
  return store;
}

storeContract('SQLite', {
  fresh: async () => freshFile(),
  execute: async (url, sql) => execute(url, sql),
});

test('the key of a cached answer is the same as long as nothing changes (C-11)', async () => {
  const file = freshFile();
  const store = await open(file);
  await store.cacheAnswer(sampleKey(), '42');
  const database = new DatabaseSync(file, { readOnly: true });
  // printf '["How old?",null,"react","m","1"]' | sha256sum
  expect(database.prepare('SELECT cache_key FROM cached_answers').all()).toEqual([
    { cache_key: '41d728d2323e7cc3e04ff39899de181fc0e696e02570e9cb72750b0e44db6774' },
  ]);
  database.close();
});

describe('a file that is locked', () => {
  test('is waited for, and then reported with what to do; nothing of it is lost', async () => {
    const file = freshFile();
    const store = await open(file, [], 200);
    await store.cacheAnswer(sampleKey(), '41');
    const holder = new DatabaseSync(file);
    holder.exec('BEGIN IMMEDIATE');
    await expect(store.cacheAnswer(sampleKey(), '42')).rejects.toMatchObject({
      code: 'store',
      message: expect.stringMatching(
        /store\.db was locked by another process for more than 0\.2 s: end the program/,
      ),
    });
    expect(await store.cachedAnswer(sampleKey())).toMatchObject({ answer: '41' });
    // Meanwhile, the store can be opened and read. A waiting write does not block the process, which then ends the lock.
    const other = await open(file);
    expect(await other.cachedAnswer(sampleKey())).toMatchObject({ answer: '41' });
    const patient = other.cacheAnswer(sampleKey(), '43');
    holder.exec('ROLLBACK');
    await patient;
    holder.close();
    expect(await store.cachedAnswer(sampleKey())).toMatchObject({ answer: '43' });
  });

  test('cannot be opened either, and says the same', async () => {
    const file = freshFile();
    const holder = new DatabaseSync(file);
    holder.exec('BEGIN EXCLUSIVE');
    await expect(open(file, [], 100)).rejects.toMatchObject({
      code: 'store',
      message: expect.stringContaining('was locked'),
    });
    holder.close();
  });
});

describe('a file that is corrupt', () => {
  const damages: [string, (whole: Buffer) => Buffer][] = [
    ['cut in half', (whole) => whole.subarray(0, whole.length / 2)],
    ['all but its header lost', (whole) => Buffer.concat([whole.subarray(0, 100), Buffer.alloc(8000, 0x5a)])],
    [
      'one page overwritten',
      (whole) => Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(4096, 0x5a), whole.subarray(8192)]),
    ],
  ];

  test.each(damages)('%s: it is set aside whole, a new store begun, and the user told', async (_, damage) => {
    const file = freshFile();
    const before = await openStore(file, { warn: () => undefined });
    await before.cacheAnswer(sampleKey(), '42');
    await before.close();
    const damaged = damage(readFileSync(file));
    for (const n of [1, 2]) {
      writeFileSync(file, damaged);
      const warnings: string[] = [];
      const store = await openStore(file, { warn: (text) => warnings.push(text) });
      expect(warnings).toEqual([
        `${file} is corrupt: it was set aside as ${file}.corrupt-${n}, and a new store begun`,
      ]);
      expect(readFileSync(`${file}.corrupt-${n}`)).toEqual(damaged);
      expect(await store.cachedAnswer(sampleKey())).toBeUndefined();
      await store.cacheAnswer(sampleKey(), '43');
      await store.close();
      const again = await openStore(file, { warn: (text) => warnings.push(text) });
      expect(await again.cachedAnswer(sampleKey())).toMatchObject({ answer: '43' });
      await again.close();
      expect(warnings).toHaveLength(1);
    }
  });

  test('found by several processes at once, it is moved once, and none of their answers with it', async () => {
    const file = freshFile();
    await (await openStore(file, { warn: () => undefined })).close();
    writeFileSync(file, readFileSync(file).fill(0x5a, 100));
    const writers = ['a', 'b', 'c', 'd'].map((name) => new Writer(file, name, 20));
    await Promise.all(writers.map((writer) => writer.done()));
    expect((await (await open(file)).exportCache()).size).toBe(80);
    // If another process has just made a log by looking at the corrupt file, the log is moved with it.
    expect(readdirSync(path.dirname(file)).filter((name) => /corrupt-\d+$/.test(name))).toEqual([
      'store.db.corrupt-1',
    ]);
    expect(writers.filter((writer) => writer.stderr.includes('was set aside'))).toHaveLength(1);
  });

  test('an empty file is no corrupt one', async () => {
    const file = freshFile();
    writeFileSync(file, '');
    const warnings: string[] = [];
    await open(file, warnings);
    expect(warnings).toEqual([]);
  });
});

describe('a file that never was a store', () => {
  const theirs = () => {
    const file = freshFile();
    execute(file, 'CREATE TABLE theirs (a)');
    return readFileSync(file);
  };

  test.each<[string, () => Buffer]>([
    ['a text', () => Buffer.from('Dear Zoë,\n')],
    ['a long text', () => Buffer.from('not a database '.repeat(500))],
    [
      'a text that begins as a database does',
      () => Buffer.from('SQLite format 3\0 is how it begins. '.repeat(9)),
    ],
    ['the damaged database of another program', () => theirs().fill(0x5a, 100)],
  ])('%s is refused, and nothing is moved or made', async (_, content) => {
    const file = freshFile();
    writeFileSync(file, content());

    await expect(open(file)).rejects.toMatchObject({
      code: 'store',
      message: `${file} is not a store of Gaia Mesh, and is left unchanged: name another file for the store, or move this one away`,
    });
    expect(readFileSync(file)).toEqual(content());
    expect(readdirSync(path.dirname(file))).toEqual(['store.db']);
  });
});

test('the database of another program is refused and left alone', async () => {
  const file = freshFile();
  execute(file, 'CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
  await expect(open(file)).rejects.toMatchObject({
    code: 'store',
    message: expect.stringContaining('another program'),
  });
  const database = new DatabaseSync(file);
  expect(database.prepare('SELECT name FROM sqlite_master').all()).toEqual([{ name: 'theirs' }]);
  database.close();
});

test('a path that cannot be a file is reported with its name', async () => {
  const file = freshFile();
  writeFileSync(file, '');
  await expect(open(path.join(file, 'below.db'))).rejects.toMatchObject({
    code: 'store',
    message: expect.stringContaining(file),
  });
  await expect(open(path.dirname(file))).rejects.toMatchObject({
    code: 'store',
    message: expect.stringContaining(path.dirname(file)),
  });
});

describe("under Node's permission model", () => {
  const code = fileURLToPath(new URL('../../..', import.meta.url));

  test('a process that may read and write the folder of the store alone can use it', async () => {
    const file = freshFile();
    const folder = path.dirname(file) + path.sep;
    const permissions = [
      '--permission',
      `--allow-fs-read=${code}`,
      `--allow-fs-read=${folder}`,
      `--allow-fs-write=${folder}`,
    ];
    await new Writer(file, 'a', 20, permissions).done();
    expect((await (await open(file)).exportCache()).size).toBe(20);
  });

  test('a process that may only read the folder is told what it needs', async () => {
    const file = freshFile();
    await open(file);
    const permissions = [
      '--permission',
      `--allow-fs-read=${code}`,
      `--allow-fs-read=${path.dirname(file)}${path.sep}`,
    ];
    const writer = new Writer(file, 'a', 1, permissions);
    await expect(writer.done()).rejects.toThrow(/MeshError: .*store\.db: .*(permission|folder)/);
    expect(writer.acknowledged).toEqual([]);
  });
});
