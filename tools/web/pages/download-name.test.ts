import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveWeb } from '../testing/serve-web.ts';
import { downloadFile, saveDownload } from './save-download.ts';

let files: string;
beforeEach(async () => {
  files = await mkdtemp(path.join(os.tmpdir(), 'gaia-download-'));
});
afterEach(async () => {
  await rm(files, { recursive: true });
});

/** Returns the name of the only file in `downloads/`. */
async function readName(): Promise<string> {
  const names = await readdir(path.join(files, 'downloads'));
  expect(names).toHaveLength(1);
  return names[0] ?? '';
}

/** Saves a file under a name, and returns the name that it got. */
async function save(name: string): Promise<string> {
  await saveDownload({ files }, name, null);
  const saved = await readName();
  await rm(path.join(files, 'downloads', saved));
  return saved;
}

describe('a name for a download (RA-52)', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['Über uns (2).txt', 'Über uns (2).txt'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\windows\\system.ini', 'system.ini'],
    ['/etc/shadow', 'shadow'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['a/b/', 'b'],
    ['..', 'download'],
    ['.', 'download'],
    ['...', 'download'],
    ['', 'download'],
    ['/', 'download'],
    ['.env', 'env'],
    ['..bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['a.txt.', 'a.txt'],
    ['a.txt ', 'a.txt'],
    ['a\0.txt', 'a_.txt'],
    ['a\nb\x1b[31m.txt', 'a_b__31m.txt'],
    ['right\u202etxt.exe', 'right_txt.exe'],
    ['???', 'download'],
  ])('%j becomes %j', async (name, safe) => {
    expect(await save(name)).toBe(safe);
  });

  test.each(['a;rm -rf ~.txt', '$(reboot).txt', '`id`.csv', 'a|b&c>d.txt', 'a*?"<>:.txt'])(
    '%j holds nothing that a shell reads (RA-53)',
    async (name) => {
      expect(await save(name)).toMatch(/^[A-Za-z0-9 ._()-]+\.(txt|csv)$/);
    },
  );

  test('is cut to what file systems take, and keeps its extension', async () => {
    const name = await save(`${'ü'.repeat(500)}.xlsx`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
    expect(name).toMatch(/^ü+\.xlsx$/);
    expect(Buffer.byteLength(await save('😀'.repeat(100)))).toBeLessThanOrEqual(120);
    expect(Buffer.byteLength(await save(`a.${'x'.repeat(5000)}`))).toBeLessThanOrEqual(120);
  });
});

describe('a file’s own name', () => {
  test.each([
    ['/x/report.pdf?v=1', 'application/pdf', undefined, 'report.pdf'],
    ['/x/report', 'application/pdf', undefined, 'report.pdf'],
    ['/', 'text/html', undefined, 'download.html'],
    ['/a%20b%2Fc.csv', 'text/csv', undefined, 'c.csv'],
    ['/100%.csv', 'text/csv', undefined, '100_.csv'],
    ['/get', 'text/csv', 'attachment; filename="the table.csv"', 'the table.csv'],
    ['/get', 'text/csv', 'attachment; filename=table.csv; size=3', 'table.csv'],
    ['/get', '', 'attachment; filename="x.txt"; filename*=UTF-8\'\'%C3%BC.txt', 'ü.txt'],
    ['/get', '', 'attachment; filename="../../.ssh/authorized_keys"', 'authorized_keys'],
    ['/get', 'x/unknown', undefined, 'get'],
  ])('of %s (%s, %s) is %s', async (at, mediaType, disposition, name) => {
    const headers = { 'content-type': mediaType, 'content-disposition': disposition ?? 'attachment' };
    const { place, pages } = await serveWeb({ pages: [{ headers, body: 'x' }] }, { files });
    await downloadFile.run({ url: pages + at }, place);
    expect(await readName()).toBe(name);
  });
});
