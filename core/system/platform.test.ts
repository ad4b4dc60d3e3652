import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { codeFolder } from './package-root.ts';
import { listMissingParts, readLinuxFile } from './platform.ts';

/** Folders of code that is published and runs on users' machines. */
const FOLDERS = ['core', 'protocols', 'tools', 'evaluation', 'scripts'];

function sources(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(codeFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|js)$/.test(entry.name) && !/\.test\./.test(entry.name))
      .map((entry) => path.relative(codeFolder, path.join(entry.parentPath, entry.name)))
      .filter((file) => !/(?:^|[\\/])(?:testing|fixtures|page)[\\/]/.test(file)),
  );
}

test('one file alone asks which system this is, and reads the files of Linux', () => {
  const asks = sources().filter((file) =>
    /process\.platform|readFileSync\([`'"]\/(?:proc|sys)\//.test(
      readFileSync(path.join(codeFolder, file), 'utf8'),
    ),
  );
  expect(asks.sort()).toEqual(
    [
      // The manifest records the system, and each system has its own program to open a page.
      'core/run/manifest.ts',
      'core/system/platform.ts',
      'evaluation/watch/open-in-browser.ts',
    ].map((file) => path.join(...file.split('/'))),
  );
});

test('each system says what it lacks', () => {
  expect(listMissingParts('linux')).toEqual([]);
  expect(listMissingParts('darwin').join()).toContain('no unshare');
  expect(listMissingParts('darwin').join()).not.toContain('WSL');
  expect(listMissingParts('win32').join()).toContain('use WSL');
});

test('a file of Linux that is not there is no failure', () => {
  expect(readLinuxFile('/proc/no-such-file')).toBeUndefined();
});
