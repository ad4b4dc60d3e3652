import { isGaiaCorrect } from '../scorers/gaia.ts';
import { parsePythonFloat } from '../scorers/python-float.ts';

/**
 * A lenient score, shown beside the official one and never instead of it: the official verdict after both texts were freed of what
 * people would not count as wrong. That is: surrounding quotes, brackets and a final full stop; articles (the, a, an); currency and
 * percent signs; thousands separators (1,000); `and` before the last item of a list; and a unit of one to three words behind a
 * number, where only one of both sides has one (`17 km` for `17`, but not `17 km` for `17 miles`).
 *
 * What is officially right is right here, too.
 */
export function isLenientlyCorrect(answer: string, truth: string): boolean {
  if (isGaiaCorrect(answer, truth)) return true;
  if (answer.length > MAX_CHARACTERS || truth.length > MAX_CHARACTERS) return false;
  return [keepWhole, joinThousands].some((read) =>
    isSameList(splitItems(read(answer)), splitItems(read(truth))),
  );
}

/** The patterns below take quadratic time on the worst texts, and what is longer than this is no answer. */
const MAX_CHARACTERS = 10_000;

const keepWhole = (text: string) => text;

/** `1,000` may be a number, or, as the official scorer reads it, two of them. */
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

/** Infinity is what the official scorer reads in anything that is no number; here it would make nonsense right. */
const isNumber = (text: string) => Number.isFinite(parsePythonFloat(text) ?? Number.NaN);

function isSameNumber(left: string | undefined, right: string): boolean {
  return left !== undefined && isGaiaCorrect(left, right);
}

/** `17 km` → `17`. */
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

/** Without quotes, brackets and full stops around it; the point that `.5` begins with stays. */
function stripFrame(text: string): string {
  return text
    .trim()
    .replace(/^["'“‘`([{]+/, '')
    .replace(/["'”’`)\]}.]+$/, '')
    .trim();
}
