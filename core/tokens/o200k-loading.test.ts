import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { codeFolder } from '../system/package-root.ts';

/** Its tables have 1 to 2 MB: they cost every command a tenth of a second and 60 MB where a file that is always loaded imports them. */
test('vocabularies are loaded only where tokens are counted', async () => {
  const loading: string[] = [];
  for (const room of ['core', 'protocols', 'tools', 'evaluation', 'scripts']) {
    for (const file of await readdir(path.join(codeFolder, room), { recursive: true })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const text = readFileSync(path.join(codeFolder, room, file), 'utf8');
      if (/^(import|export) .*o200k\.ts'/m.test(text)) loading.push(path.join(room, file));
    }
  }
  expect(loading).toEqual([]);
});
