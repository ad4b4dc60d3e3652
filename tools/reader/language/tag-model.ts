// Loads wink-nlp with only the parts of its English model that tagging needs: words and their parts of speech. The
// package's own loader takes about 250 ms: it also reads the models of every other task, copies those of the words once
// more, and enters 88,000 words into a dictionary. Here a table of numbers finds the words, which enter the dictionary
// at their first use.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Model } from 'wink-eng-lite-web-model';
// @ts-expect-error: the package has no types for the parts of its model.
import featureOf from 'wink-eng-lite-web-model/dist/feature.js';
// @ts-expect-error: as above.
import loadTags from 'wink-eng-lite-web-model/dist/load-pos-model.js';
import winkNlp, { type WinkMethods } from 'wink-nlp';
import { hashWord } from '../hash.ts';

/** The parts of the model's JSON that the tagger reads. */
type WordModel = {
  packing: { layout: Record<string, number[]>; efList?: string[] };
  lexicon: string | Uint32Array;
  xpansions: string | Uint32Array;
  pos: { hash: Record<string, number> };
  features: {
    lexeme: { list: string[]; hash?: object; intrinsicSize?: number; index?: number };
    pos: { list: string[] };
    posClusters: { list: (string | Set<number>)[] };
  };
};

const require = createRequire(import.meta.url);
const WORDS = 'wink-eng-lite-web-model/dist/languages/cur/models/eng-core-web-model.json';

export function loadTagger(): WinkMethods {
  const unused = { machines: ['[]'], transformers: [], setter: undefined };
  const none = { ...unused, machines: [] };
  const model: Model = {
    core: loadWords,
    pos: loadTags,
    featureFn: featureOf,
    sbd: () => none,
    ner: () => none,
    negation: () => unused,
    sa: () => unused,
    metaCER: () => unused,
    addons: {},
  };
  return winkNlp(model, ['pos']);
}

function loadWords(): WordModel {
  const file = require.resolve(WORDS);
  const model: WordModel = JSON.parse(readFileSync(file, 'utf8'));
  const { features, packing } = model;
  const { lexeme, posClusters } = features;
  model.lexicon = readNumbers(model.lexicon);
  model.xpansions = readNumbers(model.xpansions);
  // Restricts the work for unknown words to their tag, without shape and affixes.
  packing.efList = ['pos'];
  lexeme.intrinsicSize = lexeme.list.length;
  lexeme.index = lexeme.list.length;
  lexeme.hash = indexWords(lexeme.list);
  posClusters.list = posClusters.list.map((tags) =>
    typeof tags === 'string' ? new Set(tags.split('_').map((tag) => model.pos.hash[tag] ?? 0)) : tags,
  );
  return model;
}

function readNumbers(base64: string | Uint32Array): Uint32Array {
  if (typeof base64 !== 'string') return base64;
  const bytes = Buffer.from(base64, 'base64');
  // The copy is needed when the buffer does not begin at a multiple of 4 bytes.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, bytes.length / 4);
}

/** Returns an object from word to number that fills at each word's first use; new words can be added to it. */
function indexWords(words: readonly string[]): object {
  const slots = 1 << Math.ceil(Math.log2(2 * words.length));
  const table = new Int32Array(slots);
  const slotOf = (word: string): number => {
    const hash = hashWord(word);
    return (hash ^ (hash >>> 15)) & (slots - 1);
  };
  for (let index = 0; index < words.length; index++) {
    let slot = slotOf(words[index] ?? '');
    while (table[slot] !== 0) slot = (slot + 1) & (slots - 1);
    table[slot] = index + 1;
  }
  const find = (word: string): number => {
    for (let slot = slotOf(word); table[slot] !== 0; slot = (slot + 1) & (slots - 1)) {
      const index = (table[slot] ?? 0) - 1;
      if (words[index] === word) return index;
    }
    return -1;
  };
  const enter = (dictionary: object, word: string | symbol, value: unknown): boolean =>
    Reflect.defineProperty(dictionary, word, { value, writable: true, enumerable: true, configurable: true });
  // The proxy is reached only for words that the dictionary itself lacks.
  const rest = new Proxy(Object.create(null), {
    get(_, word, dictionary) {
      const index = typeof word === 'string' ? find(word) : -1;
      if (index < 0) return undefined;
      enter(dictionary, word, index);
      return index;
    },
    set: (_, word, value, dictionary) => enter(dictionary, word, value),
  });
  return Object.create(rest);
}
