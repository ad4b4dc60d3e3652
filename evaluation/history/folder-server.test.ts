import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { readFileItem } from './folder-items.ts';
import { serveFolder } from './folder-server.ts';

function putComparison(folder: string, name: string): string {
  const file = path.join(folder, name, 'comparison.json');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ kind: 'adapters', sentence: name, arms: [{ name: 'json' }] }));
  return file;
}

test('lists what is there when it is asked, and a file from elsewhere, and knows of nothing else', async () => {
  const folder = temporaryFolder();
  const first = putComparison(folder, 'first');
  const elsewhere = readFileItem(putComparison(temporaryFolder(), 'elsewhere'));
  const server = await serveFolder({ folder, item: elsewhere, port: 0 });
  onTestFinished(() => server.close());
  const statusOf = async (id: string) => (await fetch(`${server.url}item/${id}/`)).status;

  const second = putComparison(folder, 'second');
  expect(await statusOf(readFileItem(second).id)).toBe(200);
  expect(await statusOf(readFileItem(first).id)).toBe(200);
  expect(await statusOf(elsewhere.id)).toBe(200);
  expect(await statusOf('nobody')).toBe(404);

  const list = await (await fetch(server.url)).text();
  for (const name of ['first', 'second', 'elsewhere']) expect(list).toContain(`"answer":"${name}"`);
  expect(list).not.toContain(first);
});
