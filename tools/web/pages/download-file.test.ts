import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WebScript } from '../../fixtures/web-server.ts';
import { serveWeb } from '../testing/serve-web.ts';
import { downloadFile, saveDownload } from './save-download.ts';

let files: string;
beforeEach(async () => {
  files = await mkdtemp(path.join(os.tmpdir(), 'gaia-download-'));
});
afterEach(async () => {
  await rm(files, { recursive: true });
});

const serve = (pages?: WebScript) => serveWeb(pages === undefined ? {} : { pages }, { files });

const saved = (name: string) => readFile(path.join(files, 'downloads', name), 'utf8');
const names = async () => (await readdir(path.join(files, 'downloads'))).sort();

describe('download_file', () => {
  test('puts a file into downloads/ under its own name (RA-38)', async () => {
    const { place, pages } = await serve();
    const { text, data } = await downloadFile.run({ url: `${pages}/data.csv` }, place);
    expect(text).toBe(`saved as downloads/data.csv (32 bytes, text/csv) from ${pages}/data.csv`);
    expect(data).toEqual({ file: 'downloads/data.csv', bytes: 32 });
    expect(await saved('data.csv')).toBe('name,height\nVellmar,41\nAstel,38\n');
    expect(await names()).toEqual(['data.csv']);
  });

  test('follows a redirect (RA-38)', async () => {
    const { place, pages } = await serve(({ path: at }) =>
      at === '/old' ? { status: 302, headers: { location: '/new.txt' } } : { body: 'moved' },
    );
    await downloadFile.run({ url: `${pages}/old` }, place);
    expect(await saved('new.txt')).toBe('moved');
  });

  test.each([
    ['table.csv', 'table.csv'],
    ['../../evil.sh', 'evil.sh'],
    ['/etc/cron.d/evil', 'evil'],
    ['.hidden', 'hidden'],
    ['a;b$(c).txt', 'a_b_(c).txt'],
    ['  ', 'data.csv'],
  ])('writes nowhere else, whatever it is to be called: %j (RA-52, RA-53)', async (wanted, name) => {
    const { place, pages } = await serve();
    await downloadFile.run({ url: `${pages}/data.csv`, file_name: wanted }, place);
    expect(await names()).toEqual([name]);
    expect(await readdir(files)).toEqual(['downloads']);
  });

  test('leaves a file that is there as it is', async () => {
    const { place, pages } = await serve();
    await mkdir(path.join(files, 'downloads'));
    await writeFile(path.join(files, 'downloads', 'data.csv'), 'mine');
    const second = await downloadFile.run({ url: `${pages}/data.csv` }, place);
    const third = await downloadFile.run({ url: `${pages}/data.csv` }, place);
    expect([second.data?.file, third.data?.file]).toEqual(['downloads/data-2.csv', 'downloads/data-3.csv']);
    expect(await saved('data.csv')).toBe('mine');
    expect(await names()).toEqual(['data-2.csv', 'data-3.csv', 'data.csv']);
  });

  test('gives every one of several at once a name of its own', async () => {
    const { place, pages } = await serve();
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => downloadFile.run({ url: `${pages}/data.csv` }, place)),
    );
    expect(new Set(replies.map(({ data }) => data?.file)).size).toBe(4);
    expect(await names()).toHaveLength(4);
  });

  test('stops at its bound, and leaves nothing behind (RA-38)', async () => {
    const { place, pages } = await serve([{ body: Buffer.alloc(FILE_LIMITS.downloadBytes + 1) }]);
    await expect(downloadFile.run({ url: `${pages}/big.bin` }, place)).rejects.toThrow(
      'big.bin is larger than 52.4 MB',
    );
    expect(await names()).toEqual([]);
  });

  test('leaves nothing behind of a file that broke off', async () => {
    const { place, pages } = await serve([
      { headers: { 'content-length': '100', 'content-encoding': 'gzip' }, body: 'x' },
    ]);
    await expect(downloadFile.run({ url: `${pages}/half.bin` }, place)).rejects.toThrow();
    expect(await names()).toEqual([]);
  });

  test('refuses other schemes, and this machine (RA-38)', async () => {
    const { place, pages } = await serve();
    await expect(downloadFile.run({ url: 'file:///etc/passwd' }, place)).rejects.toThrow(
      /only http and https/,
    );
    const environment = { ...place.environment, GAIA_MESH_ALLOW_PRIVATE_HOSTS: undefined };
    await expect(downloadFile.run({ url: `${pages}/data.csv` }, { ...place, environment })).rejects.toThrow(
      /not fetched/,
    );
    expect(await readdir(files)).toEqual([]);
  });

  test('says that the run has no folder for files', async () => {
    const { place, pages } = await serve();
    await expect(
      downloadFile.run({ url: `${pages}/data.csv` }, { ...place, files: undefined }),
    ).rejects.toThrow(/this run has no folder for files/);
  });

  test('writes through no link out of the task’s folder (RA-52)', async () => {
    const { place, pages } = await serve();
    const elsewhere = await mkdtemp(path.join(os.tmpdir(), 'gaia-elsewhere-'));
    await symlink(elsewhere, path.join(files, 'downloads'));
    await expect(downloadFile.run({ url: `${pages}/data.csv` }, place)).rejects.toThrow(
      /is a link to another folder/,
    );
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true });
  });
});

async function* parts(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

describe('a folder of downloads', () => {
  test('takes no more than 200 files', async () => {
    const folder = path.join(files, 'downloads');
    await mkdir(folder);
    await Promise.all(Array.from({ length: 199 }, (_, i) => writeFile(path.join(folder, `${i}`), '')));
    await saveDownload({ files }, 'last', parts('x'));
    await expect(saveDownload({ files }, 'more', parts('x'))).rejects.toThrow(/has 200 files already/);
  });

  test('takes no more than 50 of one name', async () => {
    const folder = path.join(files, 'downloads');
    await mkdir(folder);
    await writeFile(path.join(folder, 'a.txt'), '');
    await Promise.all(
      Array.from({ length: 49 }, (_, i) => writeFile(path.join(folder, `a-${i + 2}.txt`), '')),
    );
    await expect(saveDownload({ files }, 'a.txt', parts('x'))).rejects.toThrow(
      /50 files named like a\.txt already/,
    );
    expect(await names()).toHaveLength(50);
  });

  test('that cannot be written to is said to be, not the network', async () => {
    await writeFile(path.join(files, 'downloads'), 'a file');
    await expect(saveDownload({ files }, 'a.txt', parts('x'))).rejects.toThrow(
      /downloads cannot be written: EEXIST/,
    );
  });
});
