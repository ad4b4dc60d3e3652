import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';

const ROOMS = ['core', 'protocols', 'tools', 'evaluation', 'scripts', 'lab'];

/** The folders that the map names: rows by their first cell, and folders below a row's folder in its second one. */
function onTheMap(): string[] {
  const page = readFileSync(path.join(codeFolder, 'docs', 'architecture.md'), 'utf8');
  const [, map = ''] = page.split('## The map');
  const [rows = ''] = map.split('\n## ');
  return [...rows.matchAll(/^\| (`[^|]+) \| ([^|]+) \|/gm)].flatMap(([, first = '', second = '']) => {
    const folders = namesIn(first);
    return [...folders, ...namesIn(second).map((name) => path.posix.join(folders[0] ?? '', name))];
  });
}

const namesIn = (cell: string) => [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, name = '']) => name);

/** Folders that hold a source; tests and what only they need are beside what they test, and need no map. */
function withSources(): string[] {
  const folders = new Set<string>();
  for (const room of ROOMS) {
    for (const name of readdirSync(path.join(codeFolder, room), { recursive: true, encoding: 'utf8' })) {
      const file = path.posix.join(room, name);
      if (!/\.(?:tsx?|js|c)$/.test(file) || /\.test\.ts$|\/(?:testing|fixtures|tests)\//.test(file)) continue;
      folders.add(path.posix.dirname(file));
    }
  }
  return [...folders];
}

test('the map in docs/architecture.md has every folder with a source, and no other', () => {
  const map = onTheMap();
  const sources = withSources();

  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter((folder) => !map.includes(folder))).toEqual([]);
  const above = new Set(sources.flatMap((folder) => [folder, path.posix.dirname(folder)]));
  expect(map.filter((folder) => !above.has(folder))).toEqual([]);
});
