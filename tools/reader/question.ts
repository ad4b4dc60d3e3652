import { isCapital, isStopWord, splitWords, type Word } from './language/words.ts';

/** Kinds of things that questions ask for, read from the question word. */
const KINDS = [
  'who',
  'when',
  'where',
  'count',
  'amount',
  'degree',
  'how',
  'why',
  'what',
  'yes-no',
  'other',
] as const;
type QuestionKind = (typeof KINDS)[number];

/** Returns the number by which trained rankers know a kind. */
export function toKindNumber({ kind }: Question): number {
  return KINDS.indexOf(kind);
}

export type Question = {
  /** The question, cut at its maximum length. */
  text: string;
  words: readonly Word[];
  kind: QuestionKind;
  /** Stems of the words that carry the topic, once each, in order. */
  terms: string[];
  /** Stems of the capitalised words after the first. */
  names: Set<string>;
  /** The noun that names the answer's class ("what TEAM did", "how many STEPS"); '' when there is none. */
  focus: string;
  /** The word after the question word: distinguishes "what is" from "what did". */
  next: string;
  /** Stem of the last topic word, often the main verb or its object. */
  verb: string;
};

// Maximum length of a question in characters; it bounds the work of every later step.
const MAX_QUESTION_CHARS = 1_000;

const AUXILIARIES = new Set(
  (
    'is are was were be been am do does did has have had can could will would shall should may might must ' +
    "'s isn didn wasn doesn don"
  ).split(' '),
);
const FOCUS_ENDS = new Set(
  'of in on at by for to from with that which who whose and or as between during after before the a an into about besides'.split(
    ' ',
  ),
);
const QUESTION_WORDS = new Set('who whom whose when where why how what which'.split(' '));
const DEGREES = new Set(
  'long old far high tall big large deep wide fast often heavy hot cold close late early wide soon'.split(
    ' ',
  ),
);

export function parseQuestion(question: string): Question {
  const text = question.slice(0, MAX_QUESTION_CHARS);
  const words = splitWords(text);
  const at = findQuestionWord(words);
  const wh = words[at]?.lower ?? '';
  const next = words[at + 1]?.lower ?? '';
  const kind = readKind(words, wh, next);
  const terms: string[] = [];
  const names = new Set<string>();
  for (const [index, word] of words.entries()) {
    if (isStopWord(word.lower)) continue;
    if (!terms.includes(word.stem)) terms.push(word.stem);
    if (index > 0 && isCapital(word.text)) names.add(word.stem);
  }
  return {
    text,
    words,
    kind,
    terms,
    names,
    focus: readFocus(words, at, kind),
    next,
    verb: readVerb(words, at),
  };
}

/**
 * Finds the first question word, or -1 when the question opens with an auxiliary: a later "which" is then a relative
 * pronoun.
 */
function findQuestionWord(words: readonly Word[]): number {
  const first = words.findIndex((word) => QUESTION_WORDS.has(word.lower));
  if (first > 0 && AUXILIARIES.has(words[0]?.lower ?? '')) return -1;
  return first;
}

function readKind(words: readonly Word[], wh: string, next: string): QuestionKind {
  if (wh === '') return AUXILIARIES.has(words[0]?.lower ?? '') ? 'yes-no' : 'other';
  if (wh === 'who' || wh === 'whom' || wh === 'whose') return 'who';
  if (wh === 'when') return 'when';
  if (wh === 'where') return 'where';
  if (wh === 'why') return 'why';
  if (wh === 'how') {
    if (next === 'many') return 'count';
    if (next === 'much') return 'amount';
    return DEGREES.has(next) ? 'degree' : 'how';
  }
  return 'what';
}

/** Returns the last word of the noun group after "what", "which" or "how many", before its verb or preposition. */
function readFocus(words: readonly Word[], at: number, kind: QuestionKind): string {
  if (at < 0 || (kind !== 'what' && kind !== 'count' && kind !== 'amount' && kind !== 'degree')) return '';
  const from = kind === 'what' ? at + 1 : at + 2;
  const start = words[from];
  if (start === undefined) return '';
  if (kind === 'what' && AUXILIARIES.has(start.lower)) return readCopulaFocus(words, from + 1, start.lower);
  let focus = '';
  for (let index = from; index < Math.min(words.length, from + 5); index++) {
    const word = words[index];
    if (word === undefined || AUXILIARIES.has(word.lower) || FOCUS_ENDS.has(word.lower)) break;
    if (index > from && /(?:ed|es)$/.test(word.lower) && !/(?:ies|ees)$/.test(word.lower)) break;
    focus = word.lower;
  }
  return focus;
}

/** Returns the noun group after a copula ("What was the NAME of the ship"); an auxiliary ("what did") has none. */
function readCopulaFocus(words: readonly Word[], from: number, auxiliary: string): string {
  if (!/^(?:is|are|was|were)$/.test(auxiliary)) return '';
  if (!/^(?:the|a|an|one)$/.test(words[from]?.lower ?? '')) return '';
  let focus = '';
  for (let index = from + 1; index < Math.min(words.length, from + 6); index++) {
    const word = words[index];
    if (word === undefined || FOCUS_ENDS.has(word.lower) || AUXILIARIES.has(word.lower)) break;
    focus = word.lower;
  }
  return focus;
}

function readVerb(words: readonly Word[], at: number): string {
  for (let index = Math.max(0, at + 1); index < words.length; index++) {
    const word = words[index];
    if (word === undefined || !AUXILIARIES.has(word.lower)) continue;
    for (const later of words.slice(index + 1)) {
      if (!isStopWord(later.lower) && !isCapital(later.text) && /^[a-z]/.test(later.lower)) return later.stem;
    }
  }
  return '';
}
