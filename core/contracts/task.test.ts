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
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.integer({ min: 1, max: 500 }),
        (text, size) => {
          const chunks = chunkDocument(text, size);
          expect(chunks.join('')).toBe(text);
          for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
          for (const chunk of chunks.slice(0, -1)) expect([...chunk]).toHaveLength(size);
        },
      ),
    );
  });

  test('has U+FFFD where half a character was', () => {
    expect(chunkDocument('a\ud83cb\udfc1')).toEqual(['a\ufffdb\ufffd']);
  });
});
