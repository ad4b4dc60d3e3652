/**
 * What Python means by white space and punctuation. The published scorers are Python programs, and JavaScript's
 * `\s` differs: it lacks U+001C–U+001F and U+0085 and has U+FEFF.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the four separators are white space in Python
const space = /[\p{White_Space}\u001c-\u001f]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const spaces = /[\p{White_Space}\u001c-\u001f]+/gu;
const asciiPunctuation = /[!-/:-@[-`{-~]/g;

/** As `re.sub(r'\s', '', text)`. */
export function stripSpace(text: string): string {
  return text.replace(spaces, '');
}

/** As `text.split()`. */
export function splitOnSpace(text: string): string[] {
  return text.split(spaces).filter((part) => part !== '');
}

/** As `text.rstrip()`. A loop, because `\s+$` takes quadratic time on white space in the middle. */
export function trimSpaceEnd(text: string): string {
  let end = text.length;
  while (end > 0 && space.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Removes the 32 characters of Python's `string.punctuation`. */
export function stripAsciiPunctuation(text: string): string {
  return text.replace(asciiPunctuation, '');
}
