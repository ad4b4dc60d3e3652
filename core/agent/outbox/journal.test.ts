import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { FileJournal } from './journal.ts';

test('a journal gives back its run’s whole lines, and none of another run', async () => {
  const folder = temporaryFolder();
  const journal = new FileJournal(folder, 'run-1');
  await journal.replace(['one']);
  await journal.append('two');
  expect(await journal.read()).toEqual(['one', 'two']);
  expect(await new FileJournal(folder, 'run-2').read()).toEqual([]);
  expect(statSync(journal.where).mode & 0o777).toBe(0o600);
  journal.close();
});

test('whoever reads a journal while it is written anew has the whole old one', async () => {
  const folder = temporaryFolder();
  const journal = new FileJournal(folder, 'run');
  await journal.replace(['one', 'two']);
  const reader = openSync(journal.where, 'r');
  await journal.replace(['three']);
  await journal.append('four');
  journal.close();

  expect(readFileSync(reader, 'utf8')).toBe('{"run":"run"}\none\ntwo\n');
  closeSync(reader);
  expect(await journal.read()).toEqual(['three', 'four']);
  expect(readdirSync(folder)).toEqual(['outbox.jsonl']);
});
