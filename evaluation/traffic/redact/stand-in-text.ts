import type { Random } from '../../../core/system/random.ts';
import { wordsByLength } from './words.ts';

/** Counts tokens of a text. */
export type CountTokens = (text: string) => number;

interface StandIn {
  readonly text: string;
  /** It has as many tokens as the text that it stands in for. */
  readonly isExact: boolean;
}

/** Bytes of a word and its space. */
const SHORTEST = 2;
const LONGEST = 13;
/** A run of so many spaces is one token of the encoding. */
const LONGEST_GAP = 79;
/** Tries with other words, where neighbours became one token. */
const ATTEMPTS = 4;
/** What one token of a long text holds; texts are put together in pieces, so that a count is not quadratic. */
const MAX_COUNTED = 200_000;

/**
 * A text that says nothing, with as many bytes of UTF-8 as `text`, as many as JSON, and where that can be as many tokens: English words
 * drawn by `random`, which depends on nothing but its seed.
 */
export function standInText(text: string, random: Random, countTokens: CountTokens): StandIn {
  if (text === '') return { text, isExact: true };
  const bytes = Buffer.byteLength(text);
  const escapes = countTwoByteEscapes(text);
  // JSON writes all other control characters in six bytes.
  const controls = (Buffer.byteLength(JSON.stringify(text)) - 2 - bytes - escapes) / 5;
  const shape = { plain: bytes - escapes - controls, escapes, controls };
  // A text of millions of characters costs seconds to count, and its words say no more than those of its beginning.
  const counted = text.length > MAX_COUNTED ? text.slice(0, MAX_COUNTED).toWellFormed() : text;
  const tokens = Math.round((countTokens(counted) * text.length) / counted.length);
  let best = '';
  let bestMiss = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && bestMiss > 0; attempt++) {
    const made = assembled(shape, tokens, random, countTokens);
    const miss = text.length > MAX_COUNTED ? 0 : Math.abs(countTokens(made) - tokens);
    if (miss < bestMiss) [best, bestMiss] = [made, miss];
  }
  return { text: best, isExact: bestMiss === 0 && text.length <= MAX_COUNTED };
}

/** Characters that JSON writes with a backslash in front. */
export function countTwoByteEscapes(text: string): number {
  let count = 0;
  for (const char of text) if ('"\\\b\f\n\r\t'.includes(char)) count += 1;
  return count;
}

interface Shape {
  /** Bytes that are written as they are, in UTF-8 and in JSON. */
  readonly plain: number;
  /** Characters of which JSON makes two. */
  readonly escapes: number;
  /** Characters of which JSON makes six. */
  readonly controls: number;
}

/** Words, with line breaks between them as long as there are tokens for them, and the rest of the breaks in a row at the end. */
function assembled(
  { plain, escapes, controls }: Shape,
  tokens: number,
  random: Random,
  countTokens: CountTokens,
): string {
  const row = escapes === 0 ? 0 : countTokens(`a${'\n'.repeat(escapes)}`) - 1;
  const forWords = Math.max(plain === 0 ? 0 : 1, tokens - controls - row);
  // With more tokens than bytes can be words of two, breaks take one each.
  const apart = forWords > plain / SHORTEST ? Math.min(escapes, forWords - Math.floor(plain / SHORTEST)) : 0;
  const left = escapes - apart;
  const leftTokens = left === 0 ? 0 : countTokens(`a${'\n'.repeat(left)}`) - 1;
  const words = piecesOf(
    plain,
    Math.max(plain === 0 ? 0 : 1, tokens - controls - apart - leftTokens),
    random,
  );
  const parts: string[] = [];
  let breaks = apart;
  for (const word of words) {
    // The row at the end would swallow a break that stands beside it.
    if (breaks > 0 && parts.length > 0) {
      parts.push('\n');
      breaks -= 1;
    }
    parts.push(word);
  }
  return `${parts.join('')}${'\u0001'.repeat(controls)}${'\n'.repeat(left + breaks)}`;
}

/** `count` tokens in exactly `bytes` bytes of ASCII, as near as can be. */
function piecesOf(bytes: number, count: number, random: Random): string[] {
  const pieces: string[] = [];
  // What is left for single characters: letters and digits in turn, each a token.
  const singles = Math.max(0, Math.min(bytes, SHORTEST * count - bytes));
  let left = bytes - singles;
  let due = Math.max(left === 0 ? 0 : 1, count - singles);
  // What words cannot hold goes into gaps before them.
  while (left > 0) {
    const isGap = left > due * LONGEST && due > 1;
    if (isGap) {
      const gap = Math.min(LONGEST_GAP, left - SHORTEST);
      pieces.push(' '.repeat(gap));
      left -= gap;
      due -= 1;
    }
    const least = Math.max(SHORTEST, left - (due - 1) * (isGap ? LONGEST_GAP + LONGEST : LONGEST));
    const most = Math.min(LONGEST, left - (due - 1) * SHORTEST);
    const length =
      due <= 1 ? left : Math.max(1, Math.min(least + random.integer(Math.max(1, most - least + 1)), left));
    pieces.push(wordOf(length, random));
    left -= length;
    due -= 1;
  }
  for (let index = 0; index < singles; index++) pieces.push(index % 2 === 0 ? digit(random) : letter(random));
  return pieces;
}

/** A token of so many bytes: a space and a word; beyond the longest, spaces in front. */
function wordOf(length: number, random: Random): string {
  if (length === 1) return digit(random);
  const words = wordsByLength.get(Math.min(length, LONGEST));
  const word = words?.[random.integer(words.length)] ?? 'a';
  return word.padStart(length, ' ');
}

function digit(random: Random): string {
  return String(random.integer(10));
}

function letter(random: Random): string {
  return String.fromCharCode(97 + random.integer(26));
}
