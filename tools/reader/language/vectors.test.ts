import { describe, expect, it } from 'vitest';
import { compareRows, findCoarseClass, findFineClass, findWordRow } from './vectors.ts';

describe('word vectors', () => {
  it('put words of like meaning near each other', () => {
    const near = compareRows(findWordRow('author'), findWordRow('novelist'));
    const far = compareRows(findWordRow('author'), findWordRow('gasoline'));
    expect(near).toBeGreaterThan(far + 0.3);
  });

  it('give months one class', () => {
    expect(findFineClass(findWordRow('march'))).toBe(findFineClass(findWordRow('october')));
  });

  it('know nothing of an unknown word', () => {
    const row = findWordRow('qzxqzx');
    expect([row, findFineClass(row), findCoarseClass(row), compareRows(row, findWordRow('author'))]).toEqual([
      -1, -1, -1, 0,
    ]);
  });
});
