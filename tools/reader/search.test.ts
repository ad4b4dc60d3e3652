import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { passageSchema, searchPassages } from './search.ts';

const filler = (index: number): string =>
  `Paragraph ${index} tells of weather, trade and roads in a plain county. `.padEnd(400, 'so ');

describe('searchPassages', () => {
  it('finds the chunk that holds the question’s words among many', () => {
    const chunks = Array.from({ length: 60 }, (_, index) => filler(index));
    chunks[41] = 'The lighthouse of Skerrow was lit by Mary Dunn in 1811. '.padEnd(400, 'and ');
    const passages = searchPassages('Who lit the lighthouse of Skerrow?', chunks);
    expect(passages.some(({ first, last }) => first <= 41 && last >= 41)).toBe(true);
    expect(passages.reduce((sum, { first, last }) => sum + last - first + 1, 0)).toBeLessThanOrEqual(24);
  });

  it('follows a name from the best chunk to the chunk that tells of it', () => {
    const chunks = Array.from({ length: 60 }, (_, index) => filler(index));
    chunks[10] = 'The opera Silver Heron was written by Ilse Brandt. '.padEnd(400, 'and ');
    chunks[50] = 'Brandt, that is Ilse Brandt, was born in Tromso. '.padEnd(400, 'and ');
    const passages = searchPassages('Where was the writer of the opera Silver Heron born?', chunks);
    expect(passages.some(({ text }) => text.includes('Tromso'))).toBe(true);
  });

  it('joins neighbouring chunks to the text they were cut from', () => {
    const passages = searchPassages('Who lit it?', ['It was li', 't by Mary Du', 'nn.']);
    expect(passages).toEqual([{ first: 0, last: 2, line: 1, text: 'It was lit by Mary Dunn.' }]);
  });

  it('gives the title above a passage that begins below it', () => {
    const chunks = [
      'Skerrow\n',
      ...Array.from({ length: 15 }, (_, index) => filler(index)),
      'The lamp was lit by Mary.',
    ];
    const passages = searchPassages('Who lit the lamp?', chunks);
    expect(passages.at(-1)?.heading).toBe('Skerrow');
  });

  it('finds nothing in nothing', () => {
    expect(searchPassages('Who?', [])).toEqual([]);
    expect(searchPassages('Who?', ['', ' \n'])).toEqual([]);
  });

  it('emits what its schema accepts, whatever it reads', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.string({ unit: 'binary', maxLength: 400 })),
        (question, chunks) => {
          const passages = z.array(passageSchema).max(32).parse(searchPassages(question, chunks));
          expect(passages.length > 0).toBe(chunks.join('').trim() !== '');
        },
      ),
      { numRuns: 30 },
    );
  });
});
