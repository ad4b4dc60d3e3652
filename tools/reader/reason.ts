// Step 4: which triple answers the question.
import { z } from 'zod';
import { chooseOption } from './features/choose-option.ts';
import { TOTAL_FEATURE, tripleFeatures } from './features/triple-features.ts';
import type { TripleSet } from './features/triple-schema.ts';
import { parseQuestion } from './question.ts';
import { type Forest, loadForest, scoreForest } from './trees.ts';

/** `answer` is '' only when nothing was proposed; `evidence` is the sentence it was read from. */
export const answerSchema = z.strictObject({
  answer: z.string().max(1_000),
  evidence: z.string().max(1_000),
  /** The chosen triple's share of the softmax over all of them. */
  confidence: z.number().min(0).max(1),
});
type Answer = z.infer<typeof answerSchema>;

let forest: Forest | undefined;

export function chooseAnswer(question: string, set: TripleSet): Answer {
  forest ??= loadForest(new URL('./weights/answers.bin', import.meta.url));
  const parsed = parseQuestion(question);
  const ranker = forest;
  const scores = tripleFeatures(parsed, set).map(
    (row) => (row[TOTAL_FEATURE] ?? 0) + scoreForest(ranker, row),
  );
  let pick = 0;
  for (const [index, score] of scores.entries()) if (score > (scores[pick] ?? 0)) pick = index;
  const best = set.triples[pick];
  if (best === undefined) return { answer: '', evidence: '', confidence: 0 };
  const evidence = set.sentences[best.sentence]?.text ?? '';
  const top = scores[pick] ?? 0;
  const sum = scores.reduce((total, score) => total + Math.exp(score - top), 0);
  const confidence = Math.round(1000 / sum) / 1000;
  const option = chooseOption(question, parsed, set.sentences);
  return { answer: option ?? best.object, evidence, confidence };
}
