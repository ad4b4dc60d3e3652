import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';

const text = readFileSync(path.join(codeFolder, 'docs', 'threat-model.md'), 'utf8');
const promises = [...text.matchAll(/^\| (.+?) \| `(\S+\.ts)`: (.+?) \|$/gm)].map(
  ([, promise = '', file = '', title = '']): [string, string, string] => [promise, file, title],
);

test('the threat model makes promises', () => {
  expect(promises.length).toBeGreaterThan(25);
});

test.each(promises)('%s', (_promise, file, title) => {
  const source = readFileSync(path.join(codeFolder, file), 'utf8');
  // A title may be broken over lines, or have a part of it filled in.
  const plain = source.replaceAll(/\s+/g, ' ');
  expect(plain, `${file} has no test "${title}"`).toContain(title);
});
