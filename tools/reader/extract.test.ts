import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { extractSentences, rankSentences } from './extract.ts';
import { MAX_SENTENCES, sentenceSchema } from './features/sentence-schema.ts';

const TEXT =
  'The harbour was dug in 1830. Ships from Norway brought timber. The harbour master was Jon Fell. ' +
  'Fishing ended after the war. A museum stands there now. It has twelve rooms. Entry is free. Dogs may come in.';

describe('extractSentences', () => {
  it('ranks the sentence with the answer first', () => {
    const [best] = extractSentences('Who was the harbour master?', [{ first: 0, last: 0, text: TEXT }]);
    expect(best?.text).toBe('The harbour master was Jon Fell.');
  });

  it('ranks as many as its bound, in the order of the text where nothing tells them apart', () => {
    const ranked = rankSentences('When was the harbour dug?', [{ first: 3, last: 3, text: TEXT }], undefined);
    expect(ranked).toHaveLength(MAX_SENTENCES);
    expect(ranked.map(({ text }) => TEXT.indexOf(text))).toEqual(
      ranked.map(({ text }) => TEXT.indexOf(text)).sort((a, b) => a - b),
    );
    expect(ranked.every(({ chunk }) => chunk === 3)).toBe(true);
  });

  it('emits the best first, and of the others only three or what is nearly as likely', () => {
    const sentences = extractSentences('When was the harbour dug?', [{ first: 3, last: 3, text: TEXT }]);
    const scores = sentences.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.length).toBeGreaterThanOrEqual(3);
    expect(scores.slice(3).every((score) => (scores[0] ?? 0) - score <= 400)).toBe(true);
  });

  it('lifts what stands under a title that a good sentence names', () => {
    const text =
      'Silver Heron\nThe opera Silver Heron was written by Ilse Brandt in 1890.\n\n' +
      'Carl Moe\nCarl Moe was born in Oslo.\n\nIlse Brandt\nShe was born in Tromso.';
    const sentences = extractSentences('Where was the writer of the opera Silver Heron born?', [
      { first: 0, last: 0, text },
    ]);
    const place = (part: string): number => sentences.findIndex((sentence) => sentence.text.includes(part));
    expect(place('Tromso')).toBeGreaterThanOrEqual(0);
    expect(sentences[place('Tromso')]?.heading).toBe('Ilse Brandt');
  });

  it('emits what its schema accepts, whatever it reads', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1000 }),
        (question, text) => {
          const found = extractSentences(question, [{ first: 0, last: 0, text }]);
          const sentences = z.array(sentenceSchema).max(MAX_SENTENCES).parse(found);
          expect(sentences.length > 0).toBe(text.trim() !== '');
        },
      ),
      { numRuns: 30 },
    );
  });
});
