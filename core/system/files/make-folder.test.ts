import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { makeFolder } from './make-folder.ts';

it('makes a folder with those above it, and takes one that is there', () => {
  const folder = path.join(temporaryFolder(), 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
});

it('fails below a file', () => {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(path.join(file, 'a'))).toThrow('ENOTDIR');
});

it.skipIf(!existsSync('/proc/self'))('fails where no folder can be made, in place of trying for ever', () => {
  expect(() => makeFolder('/proc/gaia-mesh/a/b')).toThrow('ENOENT');
});
