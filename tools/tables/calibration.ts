import type { Unplaced } from './unplaced.ts';

/** Facts that the chance of an answer depends on, beside the probability of its programs. */
export interface ChanceFacts {
  /** Probability of all programs that give the answer, by the model. */
  readonly probability: number;
  /** Probability of the most probable answer. */
  readonly most: number;
  readonly unplaced: Unplaced;
}

const LEAST = 1e-6;
const MAX_WORDS = 8;
const MAX_CONDITIONS = 3;

/**
 * Returns the factors of a logistic regression (after Platt 1999), fitted on questions that the model was not trained
 * on: the answer's probability, its distance from the first answer, and the parts of the question that its program
 * leaves out. The model's own probability alone does not say how often an answer is right.
 */
export function computeChanceFactors({ probability, most, unplaced }: ChanceFacts): number[] {
  return [
    1,
    computeLogit(probability),
    computeLogit(probability) - computeLogit(most),
    Math.min(MAX_WORDS, unplaced.words.length) / MAX_WORDS,
    Math.min(MAX_CONDITIONS, unplaced.conditions.length) / MAX_CONDITIONS,
    unplaced.placed === 0 ? 1 : 0,
    unplaced.words.length / Math.max(1, unplaced.words.length + unplaced.placed),
  ];
}

/** Returns the probability, from 0 to 1, that the answer is right. */
export function computeChance(facts: ChanceFacts, weights: readonly number[]): number {
  const sum = computeChanceFactors(facts).reduce(
    (total, factor, at) => total + factor * (weights[at] ?? 0),
    0,
  );
  return 1 / (1 + Math.exp(-sum));
}

function computeLogit(probability: number): number {
  const bounded = Math.min(1 - LEAST, Math.max(LEAST, probability));
  return Math.log(bounded / (1 - bounded));
}
