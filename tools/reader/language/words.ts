import { rememberTexts } from '../remember.ts';
import { stemWord } from './stem.ts';

/**
 * Properties of a word that do not depend on its position: `stem` is shared by the forms of a word, `signs` are bits of
 * SIGN.
 */
type WordForm = { text: string; lower: string; stem: string; signs: number };

/** A word of a text: `start` and `end` are UTF-16 offsets. */
export type Word = WordForm & { start: number; end: number };

export const SIGN = { stop: 1, capital: 2, digit: 4, year: 8, month: 16 };

// Numbers keep their separators ("1,200", "3.5"), dotted abbreviations stay whole ("U.S."), hyphens split.
// Runs are bounded to 64 characters so that a line without blanks costs linear time and small memory.
const WORD = /\p{N}{1,20}(?:[.,]\p{N}{1,20}){0,6}|\p{Lu}\.(?:\p{Lu}\.){1,5}|[\p{L}\p{M}\p{N}]{1,64}/uy;
const MAX_RUN_CHARS = 64;

/** Longest text whose words are remembered: a sentence. */
const MAX_SENTENCE_CHARS = 1000;

/** Cuts `text` into words; the clitics left by "'s" and "n't" count as stop words. */
export function splitWords(text: string): readonly Word[] {
  return text.length > MAX_SENTENCE_CHARS ? readWords(text) : recallWords(text);
}

const recallWords = rememberTexts(readWords);

function readWords(text: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < 128 && ASCII[code] === MARK) {
      at++;
      continue;
    }
    let end = findPlainEnd(text, at);
    if (end === at) {
      WORD.lastIndex = at;
      end = WORD.test(text) ? WORD.lastIndex : at;
    }
    if (end === at) {
      at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
      continue;
    }
    const form = readCachedForm(text, at, end);
    words.push({
      text: form.text,
      lower: form.lower,
      stem: form.stem,
      signs: form.signs,
      start: at,
      end,
    });
    at = end;
  }
  return words;
}

/** Returns the stems of all words of a text. */
export function listStems(text: string): Set<string> {
  return new Set(splitWords(text).map((word) => word.stem));
}

const MARK = 0;
const DIGIT = 1;
const LETTER = 2;
const ASCII = Uint8Array.from({ length: 128 }, (_, code) =>
  code >= 48 && code <= 57
    ? DIGIT
    : (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
      ? LETTER
      : MARK,
);
const FULL_STOP = 46;

/**
 * Returns the end of the word at `start` when it is plain (ASCII letters and digits, a letter first); otherwise
 * `start`.
 */
function findPlainEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first >= 128 || ASCII[first] !== LETTER) return start;
  const limit = Math.min(text.length, start + MAX_RUN_CHARS);
  for (let at = start + 1; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code >= 128) return start;
    // "U." may begin an abbreviation.
    if (ASCII[code] === MARK) return code === FULL_STOP && at === start + 1 ? start : at;
  }
  return limit;
}

// Slots for remembered words, one for each hash, since most words come again. V8 keeps a slice of 13 characters or more
// as a view of its text, which the table would then keep in memory: longer words are not remembered.
const KEPT_FORMS = 1 << 13;
const MAX_KEPT_CHARS = 12;
const forms = new Array<WordForm | undefined>(KEPT_FORMS).fill(undefined);

function readCachedForm(text: string, start: number, end: number): WordForm {
  if (end - start > MAX_KEPT_CHARS) return readForm(text.slice(start, end));
  let hash = 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  const slot = (hash ^ (hash >>> 15)) & (KEPT_FORMS - 1);
  const kept = forms[slot];
  if (kept !== undefined && kept.text.length === end - start && text.startsWith(kept.text, start))
    return kept;
  const form = readForm(text.slice(start, end));
  forms[slot] = form;
  return form;
}

function readForm(text: string): WordForm {
  const lower = text.toLowerCase();
  return { text, lower, stem: stemWord(lower), signs: classifySigns(text, lower) };
}

export const MONTHS: ReadonlySet<string> = new Set(
  'january february march april may june july august september october november december'.split(' '),
);

function classifySigns(text: string, lower: string): number {
  return (
    (isStopWord(lower) ? SIGN.stop : 0) |
    (isCapital(text) ? SIGN.capital : 0) |
    (/^\d/.test(text) ? SIGN.digit : 0) |
    (/^1\d{3}$|^20\d\d$/.test(text) ? SIGN.year : 0) |
    (MONTHS.has(lower) ? SIGN.month : 0)
  );
}

// Function words carry grammar, not topic: matching them says nothing about where an answer is.
const STOP_WORDS = new Set(
  (
    'a an the of in on at by for to from with as and or but nor so than that this these those it its he him his she her ' +
    'they them their theirs we us our you your i me my is are was were be been being am do does did done doing has have ' +
    'had having will would shall should can could may might must not no s t d ll re ve m if then there here what which ' +
    'who whom whose when where why how into onto over under up down out off about after before between during through ' +
    'while also such some any each all both most more much many other another only own same too very just because until ' +
    'against above below again further once'
  ).split(' '),
);

export function isStopWord(lower: string): boolean {
  return STOP_WORDS.has(lower);
}

/** Returns true if a word starts with a capital letter, as names do. */
export function isCapital(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first < 128) return first >= 65 && first <= 90;
  return /^\p{Lu}/u.test(text);
}
