// The token count that the embedded engine reports. The engine has no model tokenizer, so it counts as a reader would:
// a run of letters, marks and digits is one token, and so is every other visible character. Long runs count one token
// per 16 characters, so that a line without blanks is not free. One pass over the text with a pattern that cannot
// backtrack: linear time on any input.

import { rememberTexts } from './remember.ts';

const TOKEN = /[\p{L}\p{M}\p{N}]{1,16}|[^\s\p{L}\p{M}\p{N}]/gu;
const MAX_TOKEN_CHARACTERS = 16;

const BLANK = 0;
const SIGN = 1;
const WORD = 2;
/** The kind of each ASCII character. */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /\s/.test(character) ? BLANK : /[\p{L}\p{N}]/u.test(character) ? WORD : SIGN;
});

/** Shorter texts are counted as fast as they are found among those counted before. */
const MIN_KEPT_CHARACTERS = 200;

/** Returns the number of word and punctuation tokens in `text`; 0 for blank text. */
export function countTokens(text: string): number {
  return text.length < MIN_KEPT_CHARACTERS ? countAll(text) : recallCount(text);
}

const recallCount = rememberTexts(countAll);

function countAll(text: string): number {
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const start = at;
    let kind: number | undefined = WORD;
    while (at < text.length && at - start < MAX_TOKEN_CHARACTERS) {
      kind = ASCII[text.charCodeAt(at)];
      if (kind !== WORD) break;
      at++;
    }
    if (kind === undefined) {
      // Another alphabet: the pattern reads the token, of which the characters so far are the beginning.
      TOKEN.lastIndex = start;
      if (!TOKEN.test(text)) break;
      at = TOKEN.lastIndex;
      count++;
    } else if (at > start) count++;
    else {
      count += kind;
      at++;
    }
  }
  return count;
}
