// Step 4: chooses the triple that answers the question.
import { z } from 'zod';
import { findAnswerKind, listValues } from './answer-kinds.ts';
import { createChance, type RankedAnswer } from './chance.ts';
import { chooseOption } from './features/choose-option.ts';
import type { Sentence } from './features/sentence-schema.ts';
import { computeTripleFeatures, TOTAL_FEATURE } from './features/triple-features.ts';
import type { TripleSet } from './features/triple-schema.ts';
import { answerYesNo } from './features/yes-no.ts';
import { parseQuestion, type Question } from './question.ts';
import { type Forest, loadForest, scoreForest } from './trees.ts';

/** An answer: '' only when there were no triples; `evidence` is the sentence that holds it. */
export const answerSchema = z.strictObject({
  answer: z.string().max(1_000),
  evidence: z.string().max(1_000),
  /** The line of the document in which the evidence begins. */
  line: z.exactOptional(z.int().min(1).max(100_000_000)),
  /** The chance that the answer is right, see `chance.ts`. */
  confidence: z.number().min(0).max(1),
});
type Answer = z.infer<typeof answerSchema>;

let forest: Forest | undefined;

/** Ranks the proposed answers, the most likely first, each once; `most` bounds their number. */
export function rankAnswers(question: string, set: TripleSet, most = Number.POSITIVE_INFINITY): Answer[] {
  const parsed = parseQuestion(question);
  const computeChance = createChance(parsed, set.sentences);
  const ranked = rankShares(parsed, set)
    .slice(0, most)
    .map((one): Answer => toAnswer(one.answer, one.sentence, computeChance(one)));
  const option = chooseOption(question, parsed, set.sentences);
  const [best] = ranked;
  if (option !== undefined && best !== undefined) return [{ ...best, answer: option }];
  if (parsed.kind !== 'yes-no') return ranked;
  const agreed = answerYesNo(parsed, set.sentences);
  if (agreed === undefined) return ranked.map((one) => ({ ...one, confidence: 0 }));
  const { answer, sentence, chance } = agreed;
  return [toAnswer(answer, sentence, chance)];
}

function toAnswer(answer: string, sentence: Sentence | undefined, chance: number): Answer {
  const own = { answer, evidence: sentence?.text ?? '', confidence: Math.round(1000 * chance) / 1000 };
  return sentence?.line === undefined ? own : { ...own, line: sentence.line };
}

/** Matches what a program says of its messages, which answers no question about their content. */
const LOG_LEVEL = /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)$/;

/** Ranks the answers by the trained trees, each with its share of the softmax over all. */
export function rankShares(question: Question, set: TripleSet): RankedAnswer[] {
  forest ??= loadForest(new URL('./weights/answers.bin', import.meta.url));
  const ranker = forest;
  const scores = computeTripleFeatures(question, set).map(
    (row) => (row[TOTAL_FEATURE] ?? 0) + scoreForest(ranker, row),
  );
  const order = [...set.triples.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const top = scores[order[0] ?? 0] ?? 0;
  const sum = scores.reduce((total, score) => total + Math.exp(score - top), 0);
  const answers = new Map<string, Omit<RankedAnswer, 'rival'>>();
  for (const at of order) {
    const { object = '', sentence = 0 } = set.triples[at] ?? {};
    if (answers.has(object) || LOG_LEVEL.test(object)) continue;
    const share = Math.exp((scores[at] ?? 0) - top) / sum;
    answers.set(object, { answer: object, sentence: set.sentences[sentence], share });
  }
  const ranked = [...answers.values()];
  return ranked.map((one, at) => ({ ...one, rival: ranked[at === 0 ? 1 : 0]?.share ?? 0 }));
}

/** Explains why an answer is not given: it is not sure enough, and this is the sentence that comes closest. */
export function explainUnsure(question: string, { evidence, line }: Answer): string {
  const kind = findAnswerKind(parseQuestion(question));
  const isMissing = kind?.holds === 'exact' && listValues(kind, evidence).length === 0;
  const where = line === undefined ? '' : `line ${line}: `;
  return `Not sure. Closest: ${where}“${evidence}”${isMissing ? `, which names no ${kind.name}` : ''}`;
}

export function chooseAnswer(question: string, set: TripleSet): Answer {
  return rankAnswers(question, set, 1)[0] ?? { answer: '', evidence: '', confidence: 0 };
}
