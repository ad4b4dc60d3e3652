import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packWeightFile, readWeightFile } from './weight-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'reader-weights-'));
function written(bytes: Uint8Array): URL {
  const path = join(folder, 'x.bin');
  writeFileSync(path, bytes);
  return pathToFileURL(path);
}

describe('a weight file', () => {
  const good = packWeightFile('TEST', 3, Uint8Array.of(1, 2, 3));

  it('gives back what was packed', () => {
    expect([...readWeightFile(written(good), 'TEST', 3)]).toEqual([1, 2, 3]);
  });

  it('is refused when it is of another kind or version', () => {
    expect(() => readWeightFile(written(good), 'SPAN', 3)).toThrow(
      'expected SPAN version 3, got TEST version 3',
    );
    expect(() => readWeightFile(written(good), 'TEST', 4)).toThrow(
      'expected TEST version 4, got TEST version 3',
    );
  });

  it('is refused when it is cut short, at every length', () => {
    for (let length = 0; length < good.length; length++) {
      expect(() => readWeightFile(written(good.subarray(0, length)), 'TEST', 3)).toThrow(/x\.bin: expected/);
    }
  });
});
