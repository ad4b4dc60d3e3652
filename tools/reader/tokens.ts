// The token count the embedded engine reports. It has no model tokenizer, so it counts what a reader would:
// a run of letters, marks and digits is one token, and every other visible character is one.
// Long runs count one token per 16 characters, so that a line without blanks is not free of charge.
// One pass over the text with a pattern that cannot backtrack: linear time on any input.

const TOKEN = /[\p{L}\p{M}\p{N}]{1,16}|[^\s\p{L}\p{M}\p{N}]/gu;

/** Number of word and punctuation tokens in `text`; 0 for blank text. */
export function countTokens(text: string): number {
  let count = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.test(text)) count++;
  return count;
}
