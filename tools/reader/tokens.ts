// The token count that the embedded engine reports. The engine has no model tokenizer, so it counts as a reader would:
// a run of letters, marks and digits is one token, and so is every other visible character. Long runs count one token
// per 16 characters, so that a line without blanks is not free. One pass over the text with a pattern that cannot
// backtrack: linear time on any input.

const TOKEN = /[\p{L}\p{M}\p{N}]{1,16}|[^\s\p{L}\p{M}\p{N}]/gu;

/** Returns the number of word and punctuation tokens in `text`; 0 for blank text. */
export function countTokens(text: string): number {
  let count = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.test(text)) count++;
  return count;
}
