import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DataToolContext } from '../data-tool.ts';
import { findFileTool, loadTaskFile } from './find-file.ts';
import { taskPlace } from './testing/task-place.ts';

async function findFile(place: DataToolContext, name: string) {
  const { data } = await findFileTool.run({ name }, place);
  return data;
}

describe('find_file', () => {
  test('looks in the folder of the task, then in downloads/ (RA-45, C-33)', async () => {
    const place = taskPlace({ 'a.txt': 'own', 'downloads/a.txt': 'fetched', 'downloads/b.txt': 'fetched' });
    expect(await findFile(place, 'a.txt')).toEqual({
      path: path.join(place.files, 'a.txt'),
      name: './a.txt',
      is_there: true,
    });
    expect(await findFile(place, 'b.txt')).toEqual({
      path: path.join(place.files, 'downloads/b.txt'),
      name: 'downloads/b.txt',
      is_there: true,
    });
  });

  test.each(['agent.log', 'AGENT.LOG', 'memory.json', 'usage.log', 'outbox.jsonl', 'truths.jsonl', '.cache'])(
    'shows nothing of what an agent keeps of itself, such as %s',
    async (name) => {
      const place = taskPlace({ 'a.txt': '' });
      writeFileSync(path.join(place.workspace, name), 'the packets of other questions');
      expect(await findFile(place, name)).toMatchObject({ is_there: false });
    },
  );

  test.each([
    ['a.txt', './a.txt'],
    ['./a.txt', './a.txt'],
    ['sub/../sub/deep.txt', undefined],
    ['sub//deep.txt', './sub/deep.txt'],
    ['downloads/Data.XLSX', 'downloads/Data.XLSX'],
    ['./downloads/Data.XLSX', 'downloads/Data.XLSX'],
    ['data.xlsx', 'downloads/Data.XLSX'],
    ['DOWNLOADS/DATA.xlsx', 'downloads/Data.XLSX'],
    ['downloads\\data.xlsx', 'downloads/Data.XLSX'],
    ['uploads/2024/a.txt', './a.txt'],
    ['A.TXT', './a.txt'],
    ['cafe\u0301.md', './caf\u00e9.md'],
    ['notes.md', 'workspace/notes.md'],
  ])('%j leads to %s (RA-45, C-15)', async (name, expected) => {
    const place = taskPlace({
      'a.txt': '',
      'sub/deep.txt': '',
      'downloads/Data.XLSX': '',
      'caf\u00e9.md': '',
    });
    writeFileSync(path.join(place.workspace, 'notes.md'), '');
    writeFileSync(path.join(place.workspace, 'a.txt'), '');
    if (expected === undefined) await expect(findFile(place, name)).rejects.toThrow('leads out');
    else expect(await findFile(place, name)).toMatchObject({ name: expected, is_there: true });
  });

  test('an exact name goes before a similar one (RA-45)', async () => {
    const place = taskPlace({ 'A.txt': '', 'downloads/a.txt': '' });
    expect((await findFile(place, 'a.txt'))?.name).toBe('downloads/a.txt');
  });

  test('what is nowhere would be in downloads/ (RA-45)', async () => {
    const place = taskPlace({ 'a.txt': '' });
    expect(await findFile(place, 'none.csv')).toEqual({
      path: path.join(place.files, 'downloads/none.csv'),
      name: 'downloads/none.csv',
      is_there: false,
    });
    const { text, data } = await findFileTool.run({ name: 'none.csv' }, place);
    expect(text).toBe(
      `there is no file none.csv: the task has ./a.txt; it would be\n${place.files}/downloads/none.csv`,
    );
    expect(data?.is_there).toBe(false);
  });

  test('a missing file is reported with its path and with those there are (REQ-051, REQ-052)', async () => {
    const place = taskPlace({ 'a.txt': '' });
    await expect(loadTaskFile(place, 'b.pdf')).rejects.toThrow(
      new MeshError(
        'tool',
        `there is no file b.pdf: the task has ./a.txt; it was looked for up to ${place.files}/downloads/b.pdf`,
      ),
    );
  });
});

describe('no name leads outside (RA-52)', () => {
  test.each([
    '../secret.txt',
    '..',
    'downloads/../../secret.txt',
    'a/b/../../../secret.txt',
    './../secret.txt',
    '..\\secret.txt',
    'downloads\\..\\..\\secret.txt',
    'downloads/..\\../secret.txt',
    '/etc/passwd',
    '//etc/passwd',
    '\\\\server\\share\\x',
    '\\secret.txt',
    'C:\\secret.txt',
    'c:secret.txt',
    'file:///etc/passwd',
    'http://localhost/secret.txt',
    'secret.txt\0.png',
    '\0',
  ])('%j is refused', async (name) => {
    const place = taskPlace({ 'a.txt': '' });
    writeFileSync(path.join(place.outside, 'secret.txt'), 'secret');
    await expect(findFile(place, name)).rejects.toMatchObject({ code: 'tool' });
  });

  test.each(['.', './', 'downloads', 'downloads/', 'sub', 'sub/'])(
    'the folder %j is refused',
    async (name) => {
      const place = taskPlace({ 'downloads/a.txt': '', 'sub/a.txt': '' });
      await expect(findFile(place, name)).rejects.toThrow('is a folder');
    },
  );

  test('links are followed inside, and refused where they lead outside', async () => {
    const place = taskPlace({ 'a.txt': 'inside', 'sub/b.txt': 'inside', 'downloads/c.txt': '' });
    const secret = path.join(place.outside, 'secret.txt');
    writeFileSync(secret, 'secret');
    const link = (target: string, name: string) => symlinkSync(target, path.join(place.files, name));
    link('a.txt', 'inside');
    link('../secret.txt', 'relative');
    link(secret, 'absolute');
    link('relative', 'chain');
    link('..', 'up');
    link('/', 'root');
    link('itself', 'itself');
    link('missing', 'nowhere');
    link('../../secret.txt', 'downloads/fetched');
    expect((await findFile(place, 'inside'))?.path).toBe(path.join(place.files, 'a.txt'));
    for (const name of [
      'relative',
      'absolute',
      'chain',
      'up/secret.txt',
      'root/etc/passwd',
      'downloads/fetched',
      'fetched',
    ]) {
      await expect(findFile(place, name), name).rejects.toThrow('link to something outside');
    }
    await expect(findFile(place, 'itself')).rejects.toMatchObject({ code: 'tool' });
    expect((await findFile(place, 'nowhere'))?.is_there).toBe(false);
    // A name that is only similar to a link finds nothing either.
    expect((await findFile(place, 'RELATIVE'))?.is_there).toBe(false);
  });

  test('downloads/ that is itself a link to elsewhere is not looked into', async () => {
    const place = taskPlace();
    mkdirSync(path.join(place.outside, 'elsewhere'));
    writeFileSync(path.join(place.outside, 'elsewhere', 'secret.txt'), 'secret');
    symlinkSync('../elsewhere', path.join(place.files, 'downloads'));
    await expect(findFile(place, 'secret.txt')).rejects.toThrow('link to something outside');
    expect((await findFile(place, 'SECRET.txt'))?.is_there).toBe(false);
  });

  test('pipes are refused and not waited for', async ({ skip }) => {
    const place = taskPlace({ 'a.txt': '' });
    if (spawnSync('mkfifo', [path.join(place.files, 'pipe')]).status !== 0) skip('there is no mkfifo here');
    await expect(loadTaskFile(place, 'pipe')).rejects.toThrow('is not a regular file');
  });

  test('whatever a model writes, what is found is inside', async () => {
    const place = taskPlace({ 'a.txt': '', 'downloads/b.txt': '', 'sub/c.txt': '' });
    writeFileSync(path.join(place.outside, 'secret.txt'), 'secret');
    symlinkSync('..', path.join(place.files, 'up'));
    const piece = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        'up',
        'a.txt',
        'b.txt',
        'sub',
        'downloads',
        'files',
        'workspace',
        'secret.txt',
        '\0',
        'C:',
        '~',
        '\\',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    );
    const names = fc.array(fc.tuple(piece, fc.constantFrom('/', '\\', '//', '')), {
      minLength: 1,
      maxLength: 7,
    });
    await fc.assert(
      fc.asyncProperty(names, async (parts) => {
        const name = parts.map(([part, slash]) => part + slash).join('') || 'a.txt';
        const found = await findFile(place, name).catch((error: unknown) => error);
        if (found instanceof MeshError) {
          expect(found.code).toBe('tool');
          return;
        }
        if (!(found instanceof Object && 'path' in found)) throw found;
        const way = path.relative(place.outside, String(found.path));
        expect(way).toMatch(/^(files|workspace)\//);
      }),
      { seed: 45, numRuns: 200 },
    );
  });
});
