import { countBagOverlap } from './bag-overlap.ts';
import { splitOnSpace, stripAsciiPunctuation } from './python-text.ts';

/** Python's `\b` treats letters and digits of all scripts as word characters; JavaScript's would cut the `a` off `añejo`. */
const article = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/**
 * Normalises an answer as SQuAD v1.1's evaluation script does, in its order: lower case, drop ASCII punctuation, drop the words a, an, the,
 * collapse white space.
 */
export function normalizeAnswer(text: string): string {
  return splitNormalizedWords(text).join(' ');
}

/** Returns 1 if both texts are equal after {@link normalizeAnswer}, else 0. */
export function scoreSquadEm(prediction: string, truth: string): 0 | 1 {
  return normalizeAnswer(prediction) === normalizeAnswer(truth) ? 1 : 0;
}

/**
 * Returns F1 over the normalised words as a bag, 0 to 1. As in the script, two texts that are both empty after normalisation are an exact
 * match with an F1 of 0.
 */
export function scoreSquadF1(prediction: string, truth: string): number {
  const predicted = splitNormalizedWords(prediction);
  const expected = splitNormalizedWords(truth);
  const shared = countBagOverlap(predicted, expected);
  return shared === 0 ? 0 : (2 * shared) / (predicted.length + expected.length);
}

function splitNormalizedWords(text: string): string[] {
  return splitOnSpace(stripAsciiPunctuation(text.toLowerCase()).replace(article, ' '));
}
