// Step 4: chooses the triple that answers the question.
import { z } from 'zod';
import { chooseOption } from './features/choose-option.ts';
import { computeTripleFeatures, TOTAL_FEATURE } from './features/triple-features.ts';
import type { TripleSet } from './features/triple-schema.ts';
import { parseQuestion } from './question.ts';
import { type Forest, loadForest, scoreForest } from './trees.ts';

/** An answer: '' only when there were no triples; `evidence` is the sentence that holds it. */
export const answerSchema = z.strictObject({
  answer: z.string().max(1_000),
  evidence: z.string().max(1_000),
  /** The chosen triple's share of the softmax over all of them. */
  confidence: z.number().min(0).max(1),
});
type Answer = z.infer<typeof answerSchema>;

let forest: Forest | undefined;

/** Ranks all proposed answers, the most likely first, each once. */
export function rankAnswers(question: string, set: TripleSet): Answer[] {
  forest ??= loadForest(new URL('./weights/answers.bin', import.meta.url));
  const parsed = parseQuestion(question);
  const ranker = forest;
  const scores = computeTripleFeatures(parsed, set).map(
    (row) => (row[TOTAL_FEATURE] ?? 0) + scoreForest(ranker, row),
  );
  const order = [...set.triples.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const top = scores[order[0] ?? 0] ?? 0;
  const sum = scores.reduce((total, score) => total + Math.exp(score - top), 0);
  const answers = new Map<string, Answer>();
  for (const at of order) {
    const { object = '', sentence = 0 } = set.triples[at] ?? {};
    if (answers.has(object)) continue;
    const confidence = Math.round((1000 * Math.exp((scores[at] ?? 0) - top)) / sum) / 1000;
    answers.set(object, { answer: object, evidence: set.sentences[sentence]?.text ?? '', confidence });
  }
  const ranked = [...answers.values()];
  const option = chooseOption(question, parsed, set.sentences);
  const [best] = ranked;
  return option === undefined || best === undefined ? ranked : [{ ...best, answer: option }];
}

export function chooseAnswer(question: string, set: TripleSet): Answer {
  return rankAnswers(question, set)[0] ?? { answer: '', evidence: '', confidence: 0 };
}
