import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { listFiles } from './find-file.ts';
import { taskPlace } from './testing/task-place.ts';

test('writes the files of both folders, exactly so (RA-35)', async () => {
  const place = taskPlace({ 'app.py': '', 'downloads/data.xlsx': '' });
  expect(await listFiles.run({}, place)).toEqual({
    text: 'Files found:\n./app.py\ndownloads/data.xlsx',
    data: { files: ['./app.py', 'downloads/data.xlsx'] },
  });
});

test('sorts each folder, its own files first (RA-35)', async () => {
  const place = taskPlace({ 'downloads/a.txt': '', 'z.txt': '', 'b.txt': '', 'downloads/B.txt': '' });
  expect((await listFiles.run({}, place)).text).toBe(
    'Files found:\n./b.txt\n./z.txt\ndownloads/B.txt\ndownloads/a.txt',
  );
});

test('names no folders, no links to elsewhere, and no line breaks of a name', async () => {
  const place = taskPlace({ 'sub/deep.txt': '', 'a\nFiles found:': '' });
  writeFileSync(path.join(place.outside, 'secret.txt'), '');
  symlinkSync('../secret.txt', path.join(place.files, 'secret'));
  symlinkSync('sub/deep.txt', path.join(place.files, 'link'));
  mkdirSync(path.join(place.files, 'downloads'));
  expect((await listFiles.run({}, place)).text).toBe('Files found:\n"./a\\nFiles found:"\n./link');
});

test('lists as many as fit, and says that there are more', async () => {
  const place = taskPlace();
  for (let i = 0; i < FILE_LIMITS.listed; i++) writeFileSync(path.join(place.files, `${i}.txt`), '');
  const full = (await listFiles.run({}, place)).text;
  expect(full.split('\n')).toHaveLength(FILE_LIMITS.listed + 1);
  expect(full).not.toContain('there are more');
  writeFileSync(path.join(place.files, 'one-more.txt'), '');
  expect((await listFiles.run({}, place)).text).toContain('[there are more');
});
