/**
 * Parses a number as Python's `float(text)` does; returns undefined where Python raises `ValueError`.
 *
 * `Number(text)` will not do: it takes '' and '0x64' for numbers and refuses '1_000', 'inf' and the decimal digits of other scripts. The
 * patterns are anchored and match a text in one way only, so the time is linear.
 */
export function parsePythonFloat(text: string): number | undefined {
  // Only this white space is stripped: unlike `\s`, `float` does not strip U+001C–U+001F.
  const bare = /^\p{White_Space}*([^\p{White_Space}]+)\p{White_Space}*$/u.exec(text)?.[1];
  if (bare === undefined) return undefined;
  const ascii = bare.replace(/[^\p{ASCII}]/gu, (character) => readDecimalDigit(character) ?? character);
  if (/^[+-]?nan$/i.test(ascii)) return Number.NaN;
  if (/^[+-]?inf(?:inity)?$/i.test(ascii)) {
    return ascii.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const digits = stripUnderscores(ascii);
  if (digits === undefined || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(digits)) return undefined;
  return Number(digits);
}

/** Removes underscores, which are allowed one at a time between two digits; returns undefined for any other. */
function stripUnderscores(text: string): string | undefined {
  return /(?<!\d)_|_(?!\d)/.test(text) ? undefined : text.replaceAll('_', '');
}

/**
 * Returns the ASCII digit of a decimal digit in any script. Unicode keeps decimal digits in ordered runs of ten, so the distance to the
 * start of the run gives the value.
 */
function readDecimalDigit(character: string): string | undefined {
  if (!/\p{Nd}/u.test(character)) return undefined;
  const codePoint = character.codePointAt(0) ?? 0;
  let start = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(start - 1))) start--;
  return String((codePoint - start) % 10);
}
