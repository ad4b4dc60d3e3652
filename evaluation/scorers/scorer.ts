import { createRequire } from 'node:module';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import type { Scores } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type * as Rouge from 'rouge';
import { countBagOverlap } from './bag-overlap.ts';
import { isGaiaCorrect } from './gaia.ts';
import { splitOnSpace, trimSpaceEnd } from './python-text.ts';
import { scoreSquadEm, scoreSquadF1 } from './squad.ts';

/**
 * Maximum words of each text that are compared. The comparison takes time proportional to the product of both numbers: about 0.13 s if both
 * texts have this many. Answers have a few dozen.
 */
const MAX_ROUGE_WORDS = 2000;

const MAX_ORDER = 4;

/**
 * A longer answer scores 0 in every measure. Scoring takes time and memory in proportion to the answer, up to 3 s and a few hundred
 * megabytes at this length, and agents can send answers that are 64 times as long.
 */
const MAX_ANSWER_CHARACTERS = 1024 * 1024;

/**
 * Scores one answer against all truths, which are alternatives.
 *
 * Each measure is the maximum over the truths, so two measures of one answer may come from two truths. An answer that is not text (a JSON
 * number) must be converted to text before it comes here.
 */
export interface Scorer {
  readonly name: string;
  /** The keys of every result, in order; they are written as `null` if no truth is known. */
  readonly measures: readonly string[];
  /** Scores an answer; `null` stands for "no answer came" and scores 0, except with `gaia`. */
  score(prediction: string | null, truths: readonly [string, ...string[]]): Record<string, number>;
}

const scorers: readonly Scorer[] = [
  /** Case-sensitive equality and ROUGE-L, each 0 to 1, and their mean. */
  createBestScorer({
    name: 'exact_rouge',
    measures: ['exact_match', 'rouge_l', 'quality_score'],
    compare(prediction, truth) {
      const exact_match = scoreExactMatch(prediction, truth);
      const rouge_l = scoreRougeL(prediction, truth);
      // The mean is taken for each truth, then maximised. The mean of the two maxima is the same number: an
      // exact match has ROUGE-L 1, or has no word and then ROUGE-L 0 with every truth.
      return { exact_match, rouge_l, quality_score: (exact_match + rouge_l) / 2 };
    },
  }),

  /** SQuAD v1.1: equality after normalisation and F1 over words, each 0 to 1. */
  createBestScorer({
    name: 'squad',
    measures: ['normalized_em', 'f1'],
    compare: (prediction, truth) => ({
      normalized_em: scoreSquadEm(prediction, truth),
      f1: scoreSquadF1(prediction, truth),
    }),
  }),

  /** Sentence BLEU, 0 to 100. The truths are alternatives, not the one reference set of a translation. */
  createBestScorer({
    name: 'bleu',
    measures: ['bleu'],
    compare: (prediction, truth) => ({ bleu: scoreSentenceBleu(prediction, truth) }),
  }),

  /** The official GAIA verdict as 0 or 1, so that its mean is the accuracy. */
  createBestScorer({
    name: 'gaia',
    measures: ['correct'],
    // The official scorer's stand-in for "no answer". It is right if the truth is the word none, or if the truth is infinite, since an
    // answer that is not a number counts as infinity.
    noAnswer: 'None',
    compare: (prediction, truth) => ({ correct: isGaiaCorrect(prediction, truth) ? 1 : 0 }),
  }),
];

export const scorerNames: readonly string[] = scorers.map(({ name }) => name);

/** Returns 1 if both texts are equal after trimming white space, else 0. Case, accents and punctuation count. */
function scoreExactMatch(prediction: string, truth: string): 0 | 1 {
  return prediction.trim() === truth.trim() ? 1 : 0;
}

/** @throws MeshError `usage` if no scorer has this name. */
export function findScorer(name: string): Scorer {
  const found = scorers.find((scorer) => scorer.name === name);
  if (found) return found;
  throw new MeshError('usage', `unknown scorer ${JSON.stringify(name)}: expected ${scorerNames.join(', ')}`);
}

/**
 * Creates a scorer that applies the two measures that every result has, and the team's own. A missing answer scores 0 if the
 * truth is known.
 *
 * @throws MeshError `usage` if no scorer has this name
 */
export function createTaskScorer(own: string): (task: Pick<Task, 'truths'>, answer: string | null) => Scores {
  const used = [...new Set(['exact_rouge', 'squad', own])].map(findScorer);
  return ({ truths: [first, ...others] }, answer) =>
    Object.assign(
      {},
      ...used.map(({ measures, score }) =>
        first === undefined
          ? Object.fromEntries(measures.map((name) => [name, null]))
          : score(answer, [first, ...others]),
      ),
    );
}

interface Comparison {
  readonly name: string;
  readonly measures: readonly string[];
  /** The text that stands for "no answer came"; without it, a missing answer scores 0. */
  readonly noAnswer?: string;
  /** Returns all measures of one answer against one truth. */
  compare(prediction: string, truth: string): Record<string, number>;
}

function createBestScorer({ name, measures, noAnswer, compare }: Comparison): Scorer {
  return {
    name,
    measures,
    score(prediction, truths) {
      const best = Object.fromEntries(measures.map((measure) => [measure, 0]));
      const answer = prediction ?? noAnswer;
      if (answer === undefined || answer.length > MAX_ANSWER_CHARACTERS) return best;
      for (const truth of truths) {
        for (const [measure, value] of Object.entries(compare(answer, truth))) {
          best[measure] = Math.max(best[measure] ?? 0, value);
        }
      }
      return best;
    },
  };
}

/**
 * Returns the sentence BLEU on sacreBLEU's scale, 0 to 100, as its `sentence_bleu(prediction, [truth])` does with the defaults:
 * case-sensitive 13a tokens, n-grams up to 4, exponential smoothing, effective order.
 */
function scoreSentenceBleu(prediction: string, truth: string): number {
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

/**
 * Returns ROUGE-L, 0 to 1: the F-measure (beta 1) over the longest common subsequence of words, the text taken as one sentence. A word is a
 * run of ASCII letters and digits in any case, as in the reference implementation, so a text in another script has no words and scores 0.
 *
 * Only the first {@link MAX_ROUGE_WORDS} words of a longer text are compared, and all others count as not matched. The result is then a
 * lower bound, so padding cannot raise it. Equal texts score 1 at any length.
 */
function scoreRougeL(prediction: string, truth: string): number {
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
