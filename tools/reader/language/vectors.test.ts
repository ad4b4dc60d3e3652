import { describe, expect, it } from 'vitest';
import { coarseClass, fineClass, rowSimilarity, wordRow } from './vectors.ts';

describe('word vectors', () => {
  it('put words of like meaning near each other', () => {
    const near = rowSimilarity(wordRow('author'), wordRow('novelist'));
    const far = rowSimilarity(wordRow('author'), wordRow('gasoline'));
    expect(near).toBeGreaterThan(far + 0.3);
  });

  it('give months one class', () => {
    expect(fineClass(wordRow('march'))).toBe(fineClass(wordRow('october')));
  });

  it('know nothing of an unknown word', () => {
    const row = wordRow('qzxqzx');
    expect([row, fineClass(row), coarseClass(row), rowSimilarity(row, wordRow('author'))]).toEqual([
      -1, -1, -1, 0,
    ]);
  });
});
