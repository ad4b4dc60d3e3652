import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import type { Scores } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { scoreSentenceBleu } from './bleu.ts';
import { GAIA_NO_ANSWER, isGaiaCorrect } from './gaia.ts';
import { scoreRougeL } from './rouge-l.ts';
import { scoreSquadEm, scoreSquadF1 } from './squad.ts';

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
    noAnswer: GAIA_NO_ANSWER,
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
