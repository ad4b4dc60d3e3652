import { createRequire } from 'node:module';
import type * as Rouge from 'rouge';

/**
 * Maximum words of each text that are compared. The comparison takes time proportional to the product of both numbers: about 0.13 s if both
 * texts have this many. Answers have a few dozen.
 */
const MAX_ROUGE_WORDS = 2000;

/**
 * Returns ROUGE-L, 0 to 1: the F-measure (beta 1) over the longest common subsequence of words, the text taken as one sentence. A word is a
 * run of ASCII letters and digits in any case, as in the reference implementation, so a text in another script has no words and scores 0.
 *
 * Only the first {@link MAX_ROUGE_WORDS} words of a longer text are compared, and all others count as not matched. The result is then a
 * lower bound, so padding cannot raise it. Equal texts score 1 at any length.
 */
export function scoreRougeL(prediction: string, truth: string): number {
  const predicted = splitRougeWords(prediction);
  const expected = splitRougeWords(truth);
  if (predicted.length === 0 || expected.length === 0) return 0;
  if (prediction.trim() === truth.trim()) return 1;

  // Numbers replace the words, so comparing two of them is fast however long the words are.
  const numbers = new Map<string, string>();
  const numbered = (list: string[]) =>
    list.slice(0, MAX_ROUGE_WORDS).map((word) => mapWordNumber(word, numbers));
  const a = numbered(predicted);
  const b = numbered(expected);
  const score = loadRouge().l(a.join(' '), b.join(' '), {
    tokenizer: splitRougeWords,
    segmenter: (text) => [text],
    beta: 1,
  });
  // F1 is 2 × matches / words of both sides, so the omitted words only change the divisor.
  return score * ((a.length + b.length) / (predicted.length + expected.length));
}

function splitRougeWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function mapWordNumber(word: string, numbers: Map<string, string>): string {
  const known = numbers.get(word);
  if (known !== undefined) return known;
  const number = String(numbers.size);
  numbers.set(word, number);
  return number;
}

/** Loads the library at its first use, since that takes about 35 ms; `require` keeps scoring synchronous. */
function loadRouge(): typeof Rouge {
  return require('rouge');
}

const require = createRequire(import.meta.url);
