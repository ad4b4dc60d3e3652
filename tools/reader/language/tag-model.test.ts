import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import model from 'wink-eng-lite-web-model';
import winkNLP, { type WinkMethods } from 'wink-nlp';
import { loadTagger } from './tag-model.ts';

const whole = winkNLP(model, ['pos']);
const light = loadTagger();

function tagged(nlp: WinkMethods, text: string) {
  const tokens = nlp.readDoc(text).tokens();
  return { words: tokens.out(), tags: tokens.out(nlp.its.pos) };
}

it('tags the words of every shipped document as the whole model does', () => {
  const files = globSync(new URL('../../../config/tasks/*/document.txt', import.meta.url).pathname);
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    expect(tagged(light, text), file).toEqual(tagged(whole, text));
  }
});

it('tags words that no dictionary holds, and names that every object has, as the whole model does', () => {
  const odd = fc.constantFrom(
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'isn’t',
    "can't",
    'U.S.',
    '3.5%',
  );
  const sentence = fc.array(fc.oneof(odd, fc.string({ unit: 'grapheme', maxLength: 12 })), { maxLength: 20 });
  fc.assert(
    fc.property(sentence, (words) => {
      const text = words.join(' ');
      expect(tagged(light, text)).toEqual(tagged(whole, text));
    }),
    { numRuns: 300 },
  );
});
