import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import { readFileItem } from './folder-items.ts';
import { serveFolder } from './folder-server.ts';

async function putComparison(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name, 'comparison.json');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...(await sampleComparison(['json', 'a2a'])), sentence: name }));
  return file;
}

test('lists what is there when it is asked, and a file from elsewhere, and knows of nothing else', async () => {
  const folder = temporaryFolder();
  const first = await putComparison(folder, 'first');
  const elsewhere = readFileItem(await putComparison(temporaryFolder(), 'elsewhere'));
  const server = await serveFolder({ folder, item: elsewhere, port: 0 });
  onTestFinished(() => server.close());
  const statusOf = async (id: string) => (await fetch(`${server.url}item/${id}/`)).status;

  const second = await putComparison(folder, 'second');
  expect(await statusOf(readFileItem(second).id)).toBe(200);
  expect(await statusOf(readFileItem(first).id)).toBe(200);
  expect(await statusOf(elsewhere.id)).toBe(200);
  expect(await statusOf('nobody')).toBe(404);

  const list = await (await fetch(server.url)).text();
  for (const name of ['first', 'second', 'elsewhere']) expect(list).toContain(`"answer":"${name}"`);
  expect(list).not.toContain(first);
});
