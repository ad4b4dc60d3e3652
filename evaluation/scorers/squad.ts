import { countBagOverlap } from './bag-overlap.ts';
import { splitOnSpace, stripAsciiPunctuation } from './python-text.ts';

/** Python's `\b` knows letters and digits of all scripts; JavaScript's would cut the `a` off `añejo`. */
const article = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/**
 * The normalisation of SQuAD v1.1's evaluation script, in its order: lower case, ASCII punctuation dropped,
 * the words a, an, the dropped, white space collapsed.
 */
export function normalizeAnswer(text: string): string {
  return splitNormalizedWords(text).join(' ');
}

/** 1 if both texts are equal after {@link normalizeAnswer}, else 0. */
export function scoreSquadEm(prediction: string, truth: string): 0 | 1 {
  return normalizeAnswer(prediction) === normalizeAnswer(truth) ? 1 : 0;
}

/**
 * F1 over the normalised words as a bag, 0 to 1. As in the script, two texts that are both empty after
 * normalisation are an exact match with an F1 of 0.
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
