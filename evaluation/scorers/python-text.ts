/**
 * White space and punctuation as Python defines them. The published scorers are Python programs, and JavaScript's `\s` differs: it lacks
 * U+001C–U+001F and U+0085 and has U+FEFF.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the four separators are white space in Python
const space = /[\p{White_Space}\u001c-\u001f]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const spaces = /[\p{White_Space}\u001c-\u001f]+/gu;
const asciiPunctuation = /[!-/:-@[-`{-~]/g;

/** Removes all white space, as `re.sub(r'\s', '', text)` does. */
export function stripSpace(text: string): string {
  return text.replace(spaces, '');
}

/** Splits a text as `text.split()` does. */
export function splitOnSpace(text: string): string[] {
  return text.split(spaces).filter((part) => part !== '');
}

/** Trims the end of a text as `text.rstrip()` does. It is a loop, because `\s+$` takes quadratic time on white space in the middle. */
export function trimSpaceEnd(text: string): string {
  let end = text.length;
  while (end > 0 && space.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Removes the 32 characters of Python's `string.punctuation`. */
export function stripAsciiPunctuation(text: string): string {
  return text.replace(asciiPunctuation, '');
}
