import { countBagOverlap } from './bag-overlap.ts';
import { splitOnSpace, trimSpaceEnd } from './python-text.ts';

const MAX_ORDER = 4;

/**
 * Returns the sentence BLEU on sacreBLEU's scale, 0 to 100, as its `sentence_bleu(prediction, [truth])` does with the defaults:
 * case-sensitive 13a tokens, n-grams up to 4, exponential smoothing, effective order.
 */
export function scoreSentenceBleu(prediction: string, truth: string): number {
  const predicted = tokenizeBleu(prediction);
  const expected = tokenizeBleu(truth);
  if (predicted.length === 0) return 0;

  // Effective order: a prediction of two tokens has no trigrams, and the mean is taken over what it has.
  const order = Math.min(MAX_ORDER, predicted.length);
  let smoothing = 1;
  let logSum = 0;
  for (let n = 1; n <= order; n++) {
    const matches = countBagOverlap(listNgrams(predicted, n), listNgrams(expected, n));
    if (matches === 0) {
      if (n === 1) return 0;
      smoothing *= 2;
    }
    const total = predicted.length - n + 1;
    logSum += Math.log((matches === 0 ? 1 / smoothing : matches) / total);
  }

  const brevityPenalty = Math.min(1, Math.exp(1 - expected.length / predicted.length));
  // Rounding in exp and log can lift a perfect score above 100 by a few units of the last digit.
  return Math.min(100, 100 * brevityPenalty * Math.exp(logSum / order));
}

/** Splits a text into the tokens of NIST's mteval-v13a: entities decoded, punctuation separated, points and commas kept in numbers. */
export function tokenizeBleu(text: string): string[] {
  const line = trimSpaceEnd(text)
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  // The blanks around the line stand for its ends: the rules need a character on either side.
  const apart = ` ${line} `
    .replace(/[!-&(-+/:-@[-`{-~]/g, ' $& ')
    .replace(/([^0-9])([.,])/gu, '$1 $2 ')
    .replace(/([.,])([^0-9])/gu, ' $1 $2')
    .replace(/([0-9])-/g, '$1 - ');
  return splitOnSpace(apart);
}

function* listNgrams(tokens: readonly string[], n: number): Generator<string> {
  // Tokens have no white space in them, so a joined n-gram stands for one sequence only.
  for (let end = n; end <= tokens.length; end++) yield tokens.slice(end - n, end).join(' ');
}
