import { parseQuestion } from '../../tools/reader/question.ts';
import type { Forest } from '../../tools/reader/trees.ts';
import { TOTAL_FEATURE, tripleFeatures } from '../../tools/reader/triple-features.ts';
import type { TripleSet } from '../../tools/reader/triple-schema.ts';
import { growForest, type TreeOptions } from './grow-trees.ts';
import type { LabelledQuestion } from './read-questions.ts';
import { squadScore } from './squad-score.ts';

export type AnsweredQuestion = { labelled: LabelledQuestion; set: TripleSet };

export const ANSWER_TREES: Omit<TreeOptions, 'seed'> = {
  trees: 200,
  leaves: 8,
  rate: 0.06,
  minRows: 200,
  l2: 20,
  rowShare: 0.6,
  featureShare: 0.5,
};

/** Trains the re-ranker of step 4: right is every triple whose object scores an exact match. */
export function trainAnswers(questions: readonly AnsweredQuestion[], options: TreeOptions): Forest {
  const features: number[][] = [];
  const targets: number[] = [];
  const starts = [0];
  for (const { labelled, set } of questions) {
    const rights = set.triples.map(({ object }) => squadScore(object, labelled.truths).exact);
    if (!rights.includes(1) || !rights.includes(0)) continue;
    features.push(...tripleFeatures(parseQuestion(labelled.question), set));
    targets.push(...rights);
    starts.push(features.length);
  }
  const base = Float64Array.from(features, (row) => row[TOTAL_FEATURE] ?? 0);
  return growForest({ features, targets: Float32Array.from(targets), starts, base }, options);
}
