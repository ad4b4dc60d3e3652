import { isGaiaCorrect } from '../scorers/gaia.ts';
import { parsePythonFloat } from '../scorers/python-float.ts';

/**
 * Tells if an answer is right by a lenient score, which is shown beside the official one and never replaces it: the official
 * verdict after both texts are freed of differences that people would not count as wrong. These are: surrounding quotes, brackets
 * and a final full stop; articles (the, a, an); currency and percent signs; thousands separators (1,000); `and` before the last
 * item of a list; and a unit of one to three words after a number, if only one side has a unit (`17 km` for `17`, but not `17 km`
 * for `17 miles`).
 *
 * An answer that is officially right is right here, too.
 */
export function isLenientlyCorrect(answer: string, truth: string): boolean {
  if (isGaiaCorrect(answer, truth)) return true;
  if (answer.length > MAX_CHARACTERS || truth.length > MAX_CHARACTERS) return false;
  return [keepWhole, joinThousands].some((read) =>
    isSameList(splitItems(read(answer)), splitItems(read(truth))),
  );
}

/** Maximum characters of a text. The patterns below take quadratic time on the worst texts, and longer texts are not answers. */
const MAX_CHARACTERS = 10_000;

const keepWhole = (text: string) => text;

/** Joins `1,000` to one number; the official scorer reads it as two. */
function joinThousands(text: string): string {
  return text.replaceAll(/(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])/g, (number) => number.replaceAll(',', ''));
}

function splitItems(text: string): string[] {
  return stripFrame(text)
    .replaceAll(/[,;]\s*and\s+/gi, ', ')
    .split(/[,;]/);
}

function isSameList(answer: readonly string[], truth: readonly string[]): boolean {
  return (
    answer.length === truth.length && truth.every((item, index) => isSameItem(answer[index] ?? '', item))
  );
}

function isSameItem(answer: string, truth: string): boolean {
  const given = stripItem(answer);
  const expected = stripItem(truth);
  if (isGaiaCorrect(given, expected)) return true;
  const isGivenNumber = isNumber(given);
  const isExpectedNumber = isNumber(expected);
  if (isExpectedNumber && !isGivenNumber) return isSameNumber(takeNumber(given), expected);
  if (isGivenNumber && !isExpectedNumber) return isSameNumber(takeNumber(expected), given);
  return false;
}

/**
 * Tells if a text is a finite number. The official scorer reads Infinity in anything that is no number, which would make nonsense
 * right here.
 */
const isNumber = (text: string) => Number.isFinite(parsePythonFloat(text) ?? Number.NaN);

function isSameNumber(left: string | undefined, right: string): boolean {
  return left !== undefined && isGaiaCorrect(left, right);
}

/** Returns the number of a quantity: `17 km` → `17`. */
function takeNumber(text: string): string | undefined {
  return /^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*[°\p{L}/²³]+(?:\s[°\p{L}/²³]+){0,2}\.?$/iu.exec(
    text,
  )?.[1];
}

function stripItem(item: string): string {
  return stripFrame(item)
    .replaceAll(/[$€£¥%]/g, '')
    .replaceAll(/(?<![\p{L}\p{N}])(?:the|an?)\s+/giu, '')
    .trim();
}

/** Removes surrounding quotes, brackets and full stops, but not the point at the beginning of `.5`. */
function stripFrame(text: string): string {
  return text
    .trim()
    .replace(/^["'“‘`([{]+/, '')
    .replace(/["'”’`)\]}.]+$/, '')
    .trim();
}
