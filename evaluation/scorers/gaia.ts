import { parsePythonFloat } from './python-float.ts';
import { stripAsciiPunctuation, stripSpace } from './python-text.ts';

/**
 * Returns the verdict of the official GAIA scorer (`scorer.py` of the benchmark's leaderboard), with all its quirks, because a number that
 * is called a GAIA score has to be one. The truth alone decides how the two are compared: as numbers if it is one, else as lists if it has
 * a comma or semicolon, else as texts.
 */
export function isGaiaCorrect(answer: string, truth: string): boolean {
  const number = parsePythonFloat(truth);
  if (number !== undefined) return parseAnsweredNumber(answer) === number;
  if (/[,;]/.test(truth)) return isSameList(answer, truth);
  return stripAsciiPunctuation(stripPunctuation(answer)) === stripAsciiPunctuation(stripPunctuation(truth));
}

/** Compares two lists. Order matters, `,` and `;` are equivalent, and the punctuation inside an item must be the same. */
function isSameList(answer: string, truth: string): boolean {
  const answered = answer.split(/[,;]/);
  const expected = truth.split(/[,;]/);
  return (
    answered.length === expected.length &&
    expected.every((item, index) => isSameItem(answered[index] ?? '', item))
  );
}

function isSameItem(answer: string, truth: string): boolean {
  const number = parsePythonFloat(truth);
  return number === undefined
    ? stripPunctuation(answer) === stripPunctuation(truth)
    : parseAnsweredNumber(answer) === number;
}

function parseAnsweredNumber(answer: string): number {
  return parsePythonFloat(answer.replace(/[$%,]/g, '')) ?? Number.POSITIVE_INFINITY;
}

/** Removes white space before it lowers the case, because the lower case of a final sigma depends on what follows it. */
function stripPunctuation(text: string): string {
  return stripSpace(text).toLowerCase();
}
