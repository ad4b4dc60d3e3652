import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../core/testing/temporary-folder.ts';
import { sampleArchive } from '../report/testing/sample-archive.ts';
import { findText } from './find-text.ts';
import { folderItems } from './folder-items.ts';

async function put(folder: string, name: string, options: Parameters<typeof sampleArchive>[0]) {
  mkdirSync(path.join(folder, name));
  renameSync(await sampleArchive(options), path.join(folder, name, 'run_artifacts.tar.gz'));
}

test('finds what packets say, whatever the case, and where they are', async () => {
  const folder = temporaryFolder();
  await put(folder, 'one', { text: 'The Keeper of the light' });
  await put(folder, 'two', { text: 'nothing of it' });

  const { found, cut } = await findText(folderItems(folder).items, 'keeper OF');

  expect(cut).toBeNull();
  expect(found).toHaveLength(3);
  expect(new Set(found.map(({ place }) => place))).toEqual(
    new Set([path.join('one', 'run_artifacts.tar.gz')]),
  );
  expect(found.at(-1)).toMatchObject({
    ...{ kind: 'packet', name: 'data_event 1-0', hash: '#open=packet%3A1%3A1-0&question=t-0' },
    excerpt: expect.stringContaining('The Keeper of the light'),
  });
});

test('has bounds: of one run, of all, of time, and of the text; a broken archive stops nothing', async () => {
  const folder = temporaryFolder();
  await put(folder, 'long', { tasks: 50 });
  await put(folder, 'short', {});
  mkdirSync(path.join(folder, 'broken'));
  writeFileSync(path.join(folder, 'broken', 'run_artifacts.tar.gz'), 'no archive');
  const { items } = folderItems(folder);

  const { found, cut } = await findText(items, 'hello');
  expect(found).toHaveLength(20 + 3);
  expect(cut).toBe(`could not be read: ${path.join('broken', 'run_artifacts.tar.gz')}`);

  let ms = 0;
  expect(await findText(items, 'hello', () => (ms += 21_000))).toMatchObject({
    found: [],
    cut: expect.stringContaining('20 s'),
  });
  expect(await findText(items, 'h')).toMatchObject({ found: [], cut: 'a text has 2 to 200 characters' });
  expect(await findText(items, 'h'.repeat(201))).toMatchObject({ found: [] });
});
