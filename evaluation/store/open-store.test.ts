import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openStore, resolveStoreFile } from './open-store.ts';

test.each([
  ['store.db', '/base/store.db'],
  ['./a/store.db', '/base/a/store.db'],
  ['/abs/store.db', '/abs/store.db'],
  ['sqlite:store.db', '/base/store.db'],
  ['sqlite:/abs/store.db', '/abs/store.db'],
  ['sqlite:///abs/store.db', '/abs/store.db'],
  ['SQLite:store.db', '/base/store.db'],
  ['postgres://me:word@host/db', undefined],
  ['postgresql://host/db', undefined],
])('%s is the file %s', (url, file) => {
  expect(resolveStoreFile(url, '/base')).toBe(file);
});

test.each(['mysql://me:secret-word@host/db', 'https://me:secret-word@x.example', '', 'sqlite:'])(
  '%j is refused, without what may be a password in it',
  async (url) => {
    const failure: unknown = await openStore(url, { warn: () => undefined }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('a file, sqlite:<file> or postgres://'),
    });
    expect(String(failure)).not.toContain('secret-word');
  },
);

test('a file is made with its folders', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
  const store = await openStore(`sqlite:${folder}/sub/store.db`, { warn: () => undefined });
  expect(store.location).toBe(path.join(folder, 'sub', 'store.db'));
  await store.close();
  expect(readdirSync(path.join(folder, 'sub'))).toEqual(['store.db']);
  rmSync(folder, { recursive: true });
});
