import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readUserFile, readUserText } from './user-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gaia-mesh-user-file-'));
const bounds = { what: 'list', maxBytes: 8 };

describe('a file that a user names', () => {
  test('is read up to its bound, and refused one byte above it', () => {
    const file = path.join(folder, 'text');
    writeFileSync(file, '12345678');
    expect(readUserText(file, bounds)).toBe('12345678');
    writeFileSync(file, '123456789');
    expect(() => readUserFile(file, bounds)).toThrow(`list ${file}: 9 bytes, larger than 8`);
  });

  test('takes no memory for a size beyond its bound', () => {
    const file = path.join(folder, 'sparse');
    writeFileSync(file, '');
    truncateSync(file, 2 ** 40);
    expect(() => readUserFile(file, bounds)).toThrow(`${2 ** 40} bytes, larger than 8`);
  });

  test('may be a link to a file', () => {
    const file = path.join(folder, 'linked');
    writeFileSync(file, 'abc');
    symlinkSync(file, `${file}.link`);
    expect(readUserText(`${file}.link`, bounds)).toBe('abc');
  });

  test.skipIf(process.platform !== 'linux')('is read to its end where its size is unknown', () => {
    expect(readUserText('/proc/self/comm', { what: 'name', maxBytes: 64 })).not.toBe('');
    expect(() => readUserFile('/proc/self/maps', bounds)).toThrow('larger than 8');
  });

  test.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
    ['a device', (file: string) => symlinkSync('/dev/zero', file)],
  ])('is refused at once if it is %s', (kind, make) => {
    const file = path.join(folder, kind);
    make(file);
    expect(() => readUserFile(file, bounds)).toThrow(`list ${file}: it is no regular file, but ${kind}`);
  });

  test('is refused with the reason if it is missing or a folder', () => {
    expect(() => readUserFile(path.join(folder, 'none'), bounds)).toThrow('none: there is no such file');
    mkdirSync(path.join(folder, 'sub'));
    expect(() => readUserFile(path.join(folder, 'sub'), bounds)).toThrow('sub: it is a folder');
  });
});

test('a gzipped file is unpacked up to its bound, and not further', () => {
  const file = path.join(folder, 'a.gz');
  const packed = gzipSync('12345678');
  const read = (bytes: Uint8Array, maxBytes: number) => {
    writeFileSync(file, bytes);
    return readUserText(file, { what: 'list', maxBytes, unpacks: true });
  };
  expect(read(packed, packed.length)).toBe('12345678');
  expect(() => read(gzipSync(Buffer.alloc(1000)), 999)).toThrow(
    'a.gz: unpacked, it is larger than 999 bytes',
  );
  expect(() => read(packed.subarray(0, 15), 100)).toThrow(
    'a.gz: it cannot be unpacked: unexpected end of file',
  );
  expect(read(Buffer.from('plain'), 100)).toBe('plain');
});
