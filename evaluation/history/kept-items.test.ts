import { mkdirSync, readSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../core/testing/temporary-folder.ts';
import { type ItemHead, itemOfFile } from './folder-items.ts';
import { KeptHeads } from './kept-heads.ts';
import { KeptItems } from './kept-items.ts';

/** A folder with comparisons of these names, and how often a file of it was read. */
function folderOf(...names: readonly string[]) {
  const folder = temporaryFolder();
  for (const name of names) put(path.join(folder, name), name);
  const reads = { count: 0 };
  const heads = new KeptHeads<ItemHead>((descriptor, size) => {
    reads.count += 1;
    const bytes = Buffer.alloc(size);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes));
  });
  return { folder, heads, reads };
}

function put(folder: string, sentence: string, secondsAgo = 10): string {
  const file = path.join(folder, 'comparison.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify({ sentence, baseline: 'json', adapters: [{ adapter: 'json' }] }));
  const seconds = Math.floor(Date.now() / 1000) - secondsAgo;
  utimesSync(file, seconds, seconds);
  return file;
}

test('reads each file once, however often the list is asked for', () => {
  const { folder, heads, reads } = folderOf('a', 'b', 'c');
  const kept = new KeptItems(folder, undefined, heads);

  const first = kept.list();
  for (let i = 0; i < 5; i++) expect(kept.list()).toEqual(first);

  expect(first.items).toHaveLength(3);
  expect(reads.count).toBe(3);
});

test('reads a file again that changed or came, whatever of the two says so, and forgets one that is gone', () => {
  const { folder, heads, reads } = folderOf('a', 'b', 'c');
  const kept = new KeptItems(folder, undefined, heads);
  const facts = () =>
    kept
      .list()
      .items.map((item) => item.facts)
      .sort();
  expect(facts()).toEqual(['a', 'b', 'c']);

  put(path.join(folder, 'a'), 'x', 5);
  expect(facts()).toEqual(['b', 'c', 'x']);
  expect(reads.count).toBe(4);
  put(path.join(folder, 'a'), 'longer', 5);
  expect(facts()).toEqual(['b', 'c', 'longer']);
  put(path.join(folder, 'd'), 'd');
  expect(facts()).toEqual(['b', 'c', 'd', 'longer']);
  expect(reads.count).toBe(6);

  rmSync(path.join(folder, 'b'), { recursive: true });
  expect(facts()).toEqual(['c', 'd', 'longer']);
  expect(reads.count).toBe(6);
});

test('finds an item without a look through its folder, and what came meanwhile with one', () => {
  const { folder, heads, reads } = folderOf('a');
  const own = put(temporaryFolder(), 'elsewhere');
  const kept = new KeptItems(folder, itemOfFile(own), heads);
  const [elsewhere, a] = kept.list().items;
  put(path.join(folder, 'b'), 'b');

  expect(kept.item(a?.id ?? '')).toBe(a);
  expect(kept.item(elsewhere?.id ?? '')).toMatchObject({ facts: 'elsewhere' });
  expect(reads.count).toBe(1);

  const b = itemOfFile(path.join(folder, 'b', 'comparison.json'));
  expect(kept.item(b.id)).toMatchObject({ facts: 'b' });
  expect(reads.count).toBe(2);
  expect(kept.item('nobody')).toBeUndefined();

  put(path.join(folder, 'a'), 'changed', 1);
  expect(kept.item(a?.id ?? '')).toMatchObject({ facts: 'changed' });
});
