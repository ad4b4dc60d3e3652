import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MeshError } from '../../contracts/errors.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { checkWritable, writeWhole } from './whole-file.ts';

test('a file that cannot be written is said in a sentence, and leaves nothing half or empty', () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'taken'));
  expect(() => writeWhole(path.join(folder, 'taken'), 'text')).toThrow(
    /taken cannot be written: it is a folder/,
  );
  expect(() => writeWhole(path.join(folder, 'no', 'file'), 'text')).toThrow(/there is no such folder/);
  expect(readdirSync(folder)).toEqual(['taken']);
  writeWhole(path.join(folder, 'file'), 'old');
  writeWhole(path.join(folder, 'file'), 'new');
  expect(readFileSync(path.join(folder, 'file'), 'utf8')).toBe('new');
});

test('whoever reads a file while it is written anew has the whole old one', () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'file');
  writeWhole(file, 'old');
  const reader = openSync(file, 'r');
  writeWhole(file, 'new and longer');
  expect(readFileSync(reader, 'utf8')).toBe('old');
  closeSync(reader);
  expect(readFileSync(file, 'utf8')).toBe('new and longer');
  expect(readdirSync(folder)).toEqual(['file']);
});

test.skipIf(process.platform !== 'linux')('a device is written to, and stays a device', () => {
  // The test uses a link to the device, since a failure would otherwise replace the machine's own.
  const device = path.join(temporaryFolder(), 'full');
  symlinkSync('/dev/full', device);
  expect(() => writeWhole(device, 'text')).toThrow(/full cannot be written: .*the disk is full/);
  expect(lstatSync(device).isSymbolicLink()).toBe(true);
});

test('a folder where the file would be written first stays, and is the obstacle', () => {
  const file = path.join(temporaryFolder(), 'file');
  mkdirSync(`${file}.part`);
  expect(() => writeWhole(file, 'text')).toThrow(/file\.part cannot be written: it is a folder/);
  expect(lstatSync(`${file}.part`).isDirectory()).toBe(true);
});

test('a folder for results is tried before the work, made if it is missing, and left as it was', () => {
  const folder = path.join(temporaryFolder(), 'a', 'b');
  checkWritable(folder);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(path.join(folder, 'file'), '');
  expect(() => checkWritable(path.join(folder, 'file'))).toThrow(
    /file cannot be written: a file stands where a folder is expected/,
  );
});

test('pieces are written as they are made, and an error of what makes them leaves the old file', () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'file');
  writeWhole(file, ['a\n', 'b\n']);
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  const broken = function* () {
    yield 'c\n';
    throw new MeshError('store', 'the journal is damaged');
  };
  expect(() => writeWhole(file, broken())).toThrow('the journal is damaged');
  expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  expect(readdirSync(folder)).toEqual(['file']);
});
