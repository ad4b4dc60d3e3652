import { hashWord, mix } from './hash.ts';
import type { Question } from './question.ts';
import type { Token } from './tag-words.ts';
import { taggedFocus } from './tagged-focus.ts';
import { coarseClass, fineClass, wordRow } from './vectors.ts';
import { isStopWord } from './words.ts';

/** What the features need of the question, once. */
export type AskedView = {
  kind: number;
  /** Names of what is asked for, each crossed with each form of the answer: by the words around the question word ... */
  plainAsks: number[];
  /** ... and by the class the question names ("which TEAM"): the word, its narrow and its broad class. */
  focusAsks: number[];
  /** Those crossed with what stands beside the answer. */
  besideAsks: number[];
  askedFocus: number;
  askedFine: number;
  askedNext: number;
  askedVerb: number;
  stems: Set<string>;
  termCount: number;
  focus: string;
  focusRow: number;
  verb: string;
  verbRow: number;
  afterWh: string[];
  last: string;
  preposition: number;
  /** Every topic word of the question, for questions whose focus was read wrongly. */
  bag: number[];
};

export function viewQuestion(question: Question, tokens: readonly Token[]): AskedView {
  const kind = hashWord(question.kind);
  const { words, verb, next } = question;
  const focus = taggedFocus(question, tokens);
  const focusRow = focus === '' ? -1 : wordRow(focus);
  const verbWord = words.find((word) => word.stem === verb);
  const verbRow = verbWord === undefined ? -1 : wordRow(verbWord.lower);
  const wh = words.findIndex((word) => /^(?:who|whom|whose|when|where|why|how|what|which)$/.test(word.lower));
  const afterWh = words
    .slice(Math.max(0, wh + 1))
    .filter((word) => !isStopWord(word.lower) && word.lower !== focus)
    .slice(0, 2)
    .map((word) => word.stem);
  const lastWord = words.at(-1)?.lower ?? '';
  const endsInPreposition = /^(?:in|at|on|by|to|from|for|with|of|into|under|after|as)$/.test(lastWord);
  const before = words[wh - 1]?.lower ?? '';
  const leads = /^(?:in|at|on|by|to|from|for|with|of|into|under|after|during|as)$/.test(before);
  const askedFocus = mix(kind, hashWord(focus) + 1);
  const askedFine = mix(kind, fineClass(focusRow) + 1000);
  const askedNext = mix(kind, hashWord(next) + 3);
  const askedVerb = mix(kind, fineClass(verbRow) + 4000);
  return {
    kind,
    plainAsks: [kind, askedNext, askedVerb, mix(mix(kind, hashWord(verb)), 5)],
    focusAsks: [askedFocus, askedFine, mix(kind, coarseClass(focusRow) + 2000)],
    besideAsks: [kind, askedFocus, askedNext, askedFine],
    askedFocus,
    askedFine,
    askedNext,
    askedVerb,
    stems: new Set(question.terms),
    termCount: question.terms.length,
    focus,
    focusRow,
    verb,
    verbRow,
    afterWh,
    last: question.terms.at(-1) ?? '',
    bag: [
      ...question.terms.slice(0, 10).map(hashWord),
      mix(hashWord(next), hashWord(words[wh + 2]?.lower ?? '')),
    ],
    preposition: endsInPreposition ? hashWord(lastWord) : leads ? hashWord(before) : 0,
  };
}
