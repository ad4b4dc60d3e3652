import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitSentences } from './sentence-split.ts';

const texts = (text: string): string[] =>
  splitSentences(text).map(({ start, end }) => text.slice(start, end));

describe('splitSentences', () => {
  it('cuts at full stops, not at abbreviations and initials', () => {
    expect(texts('Dr. J. Smith met Mrs. Hill. They left at 3.30 p.m. on foot.')).toEqual([
      'Dr. J. Smith met Mrs. Hill.',
      'They left at 3.30 p.m. on foot.',
    ]);
  });

  it('marks a short line above text as a heading', () => {
    expect(
      splitSentences('Old Town\nIt is old.\n\nNew Town\nIt is new.').map(({ heading }) => heading),
    ).toEqual([true, false, true, false]);
  });

  it('joins hard-wrapped lines', () => {
    expect(
      texts('There stands in the university town of Schonen, the\nseat of the first bishop. He left.'),
    ).toEqual(['There stands in the university town of Schonen, the\nseat of the first bishop.', 'He left.']);
  });

  it('gives ordered, bounded spans that lose nothing but blanks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
        let at = 0;
        for (const { start, end } of splitSentences(text)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          expect(end - start).toBeLessThanOrEqual(600);
          expect(text.slice(at, start).trim()).toBe('');
          at = end;
        }
        expect(text.slice(at).trim()).toBe('');
      }),
    );
  });
});
