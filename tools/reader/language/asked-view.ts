import { toTagNumber } from '../features/span-shapes.ts';
import { hashWord, mix } from '../hash.ts';
import type { Question } from '../question.ts';
import type { Token } from './tag-words.ts';
import { findCoarseClass, findFineClass, findWordRow } from './vectors.ts';
import { isStopWord } from './words.ts';

/** Facts about the question that features need, computed once. */
export type AskedView = {
  kind: number;
  /**
   * Hashes of what the question asks for, each crossed with the look of the answer: by the words around the question
   * word ...
   */
  plainAsks: number[];
  /** ... and by the class that the question names ("which TEAM"): the word, its narrow and its broad class. */
  focusAsks: number[];
  /** Hashes that are crossed with the words beside the answer. */
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
  const focus = findTaggedFocus(question, tokens);
  const focusRow = focus === '' ? -1 : findWordRow(focus);
  const verbWord = words.find((word) => word.stem === verb);
  const verbRow = verbWord === undefined ? -1 : findWordRow(verbWord.lower);
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
  const askedFine = mix(kind, findFineClass(focusRow) + 1000);
  const askedNext = mix(kind, hashWord(next) + 3);
  const askedVerb = mix(kind, findFineClass(verbRow) + 4000);
  return {
    kind,
    plainAsks: [kind, askedNext, askedVerb, mix(mix(kind, hashWord(verb)), 5)],
    focusAsks: [askedFocus, askedFine, mix(kind, findCoarseClass(focusRow) + 2000)],
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

const IN_GROUP = new Set([
  toTagNumber('NOUN'),
  toTagNumber('PROPN'),
  toTagNumber('ADJ'),
  toTagNumber('NUM'),
  toTagNumber('PART'),
]);
const NAMES_GROUP = new Set([toTagNumber('NOUN'), toTagNumber('PROPN')]);
// Nouns that carry no class: "What TYPE of fuel" asks for a fuel.
const EMPTY_NOUNS = /^(?:types?|kinds?|sorts?|forms?|names?|titles?|number|amount|one|pair|part|piece)$/;
const MAX_GROUP_TOKENS = 7;

/**
 * Finds the noun that names the answer's class with part-of-speech tags: they distinguish "which team WON it" from
 * "which team COLOURS", which parseQuestion cannot do without a tagger. Falls back to the question's own focus.
 */
export function findTaggedFocus(question: Question, tokens: readonly Token[]): string {
  if (!/^(?:what|count|amount|degree)$/.test(question.kind)) return question.focus;
  const wh = tokens.findIndex((token) => /^(?:what|which|how)$/.test(token.lower));
  if (wh < 0) return question.focus;
  let at = wh + (question.kind === 'what' ? 1 : 2);
  if (/^(?:is|are|was|were|'s)$/.test(tokens[at]?.lower ?? '')) {
    at++;
    if (!/^(?:the|a|an|one|another)$/.test(tokens[at]?.lower ?? '')) return '';
    at++;
  }
  const group = readNounGroup(tokens, at);
  if (EMPTY_NOUNS.test(group.noun) && tokens[group.end]?.lower === 'of') {
    const article = /^(?:the|a|an)$/.test(tokens[group.end + 1]?.lower ?? '') ? 1 : 0;
    const inner = readNounGroup(tokens, group.end + 1 + article);
    if (inner.noun !== '') return inner.noun;
  }
  return group.noun === '' && question.kind !== 'degree' ? question.focus : group.noun;
}

function readNounGroup(tokens: readonly Token[], from: number): { noun: string; end: number } {
  let noun = '';
  let at = from;
  for (; at < Math.min(tokens.length, from + MAX_GROUP_TOKENS); at++) {
    const token = tokens[at];
    if (token === undefined || !IN_GROUP.has(token.tag)) break;
    if (NAMES_GROUP.has(token.tag)) noun = token.lower;
  }
  return { noun, end: at };
}
