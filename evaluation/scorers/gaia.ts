import { parsePythonFloat } from './python-float.ts';
import { stripAsciiPunctuation, stripSpace } from './python-text.ts';

/**
 * What the official scorer makes of "no answer": right where the truth is the word none, and where it is
 * infinite, since an answer that is no number counts as infinity.
 */
export const GAIA_NO_ANSWER = 'None';

/**
 * The verdict of the official GAIA scorer (`scorer.py` of the benchmark's leaderboard), with all its quirks,
 * because a number that is called a GAIA score has to be one. The truth alone decides how they are compared:
 * as a number if it is one, else as a list if it has a comma or semicolon, else as text.
 */
export function isGaiaCorrect(answer: string, truth: string): boolean {
  const number = parsePythonFloat(truth);
  if (number !== undefined) return parseAnsweredNumber(answer) === number;
  if (/[,;]/.test(truth)) return isSameList(answer, truth);
  return stripAsciiPunctuation(stripPunctuation(answer)) === stripAsciiPunctuation(stripPunctuation(truth));
}

/** Order counts, `,` and `;` are one, and the punctuation inside an item has to be the same. */
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

/** White space goes first: the lower case of a final sigma depends on what follows it. */
function stripPunctuation(text: string): string {
  return stripSpace(text).toLowerCase();
}
