import { stem } from './stem.ts';

/** A word of a text: `start` and `end` are UTF-16 offsets, `stem` is what two forms of a word share. */
export type Word = { text: string; lower: string; stem: string; start: number; end: number };

// Numbers keep their separators ("1,200", "3.5"), dotted abbreviations stay whole ("U.S."), hyphens split.
// Runs are bounded to 64 characters so that a line without blanks costs linear time and small memory.
const WORD = /\p{N}{1,20}(?:[.,]\p{N}{1,20}){0,6}|\p{Lu}\.(?:\p{Lu}\.){1,5}|[\p{L}\p{M}\p{N}]{1,64}/gu;

/** Cuts `text` into words; the clitics left by "'s" and "n't" are dropped with the other stop words later. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(WORD)) {
    const lower = match[0].toLowerCase();
    words.push({
      text: match[0],
      lower,
      stem: stem(lower),
      start: match.index,
      end: match.index + match[0].length,
    });
  }
  return words;
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

/** A word that starts with a capital letter, as names do. */
export function isCapital(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first < 128) return first >= 65 && first <= 90;
  return /^\p{Lu}/u.test(text);
}
