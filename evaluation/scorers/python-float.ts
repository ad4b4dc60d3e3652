/**
 * The number that Python's `float(text)` gives, or `undefined` where it raises `ValueError`.
 *
 * Not `Number(text)`, which takes '' and '0x64' for numbers and refuses '1_000', 'inf' and the decimal digits of
 * other scripts. The patterns are anchored and have no two ways to match one text, so time is linear.
 */
export function parsePythonFloat(text: string): number | undefined {
  // Only this white space: unlike `\s`, `float` does not strip U+001C–U+001F.
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

/** Underscores are allowed one at a time and between two digits. */
function stripUnderscores(text: string): string | undefined {
  return /(?<!\d)_|_(?!\d)/.test(text) ? undefined : text.replaceAll('_', '');
}

/** Unicode keeps decimal digits in runs of ten in order, so the distance to a run's start gives the value. */
function readDecimalDigit(character: string): string | undefined {
  if (!/\p{Nd}/u.test(character)) return undefined;
  const codePoint = character.codePointAt(0) ?? 0;
  let start = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(start - 1))) start--;
  return String((codePoint - start) % 10);
}
