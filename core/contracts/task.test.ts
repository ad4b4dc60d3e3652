import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunkDocument } from './task.ts';

describe('a document in chunks', () => {
  test.each([
    ['', []],
    ['a', ['a']],
    ['a'.repeat(400), ['a'.repeat(400)]],
    ['a'.repeat(401), ['a'.repeat(400), 'a']],
    ['🏁'.repeat(401), ['🏁'.repeat(400), '🏁']],
    [`${'a'.repeat(399)}🏁b`, [`${'a'.repeat(399)}🏁`, 'b']],
  ])('holds 400 characters each, the last one the rest (MP-21)', (document, chunks) => {
    expect(chunkDocument(document)).toEqual(chunks);
  });

  test('gives the document back when it is joined, and breaks no character (MP-21)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', size: 'max', maxLength: 3000 }), (text) => {
        const chunks = chunkDocument(text);
        expect(chunks.join('')).toBe(text);
        for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
        for (const chunk of chunks.slice(0, -1)) expect([...chunk]).toHaveLength(400);
      }),
    );
  });

  test('has U+FFFD where half a character was', () => {
    expect(chunkDocument('a\ud83cb\udfc1')).toEqual(['a\ufffdb\ufffd']);
  });
});
