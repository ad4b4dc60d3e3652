import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractSentences, sentencesSchema } from './extract.ts';
import { MAX_SENTENCES } from './sentence-schema.ts';

const TEXT =
  'The harbour was dug in 1830. Ships from Norway brought timber. The harbour master was Jon Fell. ' +
  'Fishing ended after the war. A museum stands there now. It has twelve rooms. Entry is free. Dogs may come in.';

describe('extractSentences', () => {
  it('ranks the sentence with the answer first', () => {
    const [best] = extractSentences('Who was the harbour master?', [{ first: 0, last: 0, text: TEXT }]);
    expect(best?.text).toBe('The harbour master was Jon Fell.');
  });

  it('emits at most its bound, best first', () => {
    const sentences = extractSentences('When was the harbour dug?', [{ first: 3, last: 3, text: TEXT }]);
    expect(sentences).toHaveLength(MAX_SENTENCES);
    expect(sentences.map(({ score }) => score)).toEqual(
      sentences.map(({ score }) => score).sort((a, b) => b - a),
    );
    expect(sentences.every(({ chunk }) => chunk === 3)).toBe(true);
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
        fc.string({ unit: 'binary', minLength: 1, maxLength: 2000 }),
        (question, text) => {
          const sentences = sentencesSchema.parse(extractSentences(question, [{ first: 0, last: 0, text }]));
          expect(sentences.length > 0).toBe(text.trim() !== '');
        },
      ),
    );
  });
});
