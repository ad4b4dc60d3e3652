import { viewSentences } from '../../tools/reader/extract.ts';
import { searchPassages } from '../../tools/reader/search.ts';
import type { Forest } from '../../tools/reader/trees.ts';
import { growForest, type RankingRows } from './grow-trees.ts';
import { cutChunks, type LabelledQuestion } from './read-questions.ts';

/** Trains the ranker of step 2: right is every sentence that holds an accepted answer word for word. */
export function trainSentences(questions: readonly LabelledQuestion[], seed: number): Forest {
  const features: number[][] = [];
  const targets: number[] = [];
  const starts = [0];
  for (const { question, document, truths } of questions) {
    const viewed = viewSentences(question, searchPassages(question, cutChunks(document)));
    const rights = viewed.sentences.map(({ text }) => (truths.some((truth) => text.includes(truth)) ? 1 : 0));
    if (!rights.includes(1) || !rights.includes(0)) continue;
    features.push(...viewed.features);
    targets.push(...rights);
    starts.push(features.length);
  }
  const rows: RankingRows = { features, targets: Float32Array.from(targets), starts };
  return growForest(rows, {
    trees: 140,
    leaves: 12,
    rate: 0.1,
    minRows: 60,
    l2: 5,
    rowShare: 0.7,
    featureShare: 0.6,
    seed,
  });
}
