// Fits the chance of the reader's answers (tools/reader/reason.ts) and prints its weights, and what each threshold would
// come to. Usage: node lab/training/train-chance.ts --data DIR
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { extractSentences } from '@gaia-mesh/reader/extract.ts';
import { splitSentences } from '@gaia-mesh/reader/language/sentence-split.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { computeChanceFactors, rankShares, viewAsked } from '@gaia-mesh/reader/reason.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import { fitLogistic } from './held-out.ts';
import { cutChunks, type LabelledQuestion, readQuestions, scoreSquad } from './read-questions.ts';

/** Number of answers per question that are learned from. */
const LEARNED_ANSWERS = 3;
/**
 * One question in this many is asked of the next document, too, and one of its own document without the sentences that
 * have an answer: nothing is right there.
 */
const UNANSWERABLE = 3;

const { values } = parseArgs({ options: { data: { type: 'string' } } });
if (values.data === undefined) throw new Error('--data: the folder with dev_large.jsonl.gz');

const questions = readQuestions(join(values.data, 'dev_large.jsonl.gz'));
const documents = [...new Set(questions.map(({ document }) => document))];
const followers = new Map(
  documents.map((document, at) => [document, documents[at + 1] ?? documents[0] ?? '']),
);
const asked = questions.flatMap((labelled, at) => {
  const half = documents.indexOf(labelled.document) % 2;
  const own = { ...labelled, half, isAnswerable: true };
  const unanswerable = { ...labelled, half, isAnswerable: false, truths: [] };
  if (at % UNANSWERABLE === 0)
    return [own, { ...unanswerable, document: followers.get(labelled.document) ?? '' }];
  return at % UNANSWERABLE === 1 ? [own, { ...unanswerable, document: removeAnswer(labelled) }] : [own];
});
const answered = asked.flatMap(({ question, document, truths, half, isAnswerable }) => {
  const parsed = parseQuestion(question);
  if (parsed.kind === 'yes-no') return [];
  const sentences = extractSentences(question, searchPassages(question, cutChunks(document)));
  const set = proposeTriples(question, sentences);
  const facts = viewAsked(parsed, set.sentences);
  return rankShares(parsed, set)
    .slice(0, LEARNED_ANSWERS)
    .map((answer, rank) => {
      const isRight = scoreSquad(answer.answer, truths).exact === 1;
      return { ...computeChanceFactors(facts, answer), isRight, rank, half, isAnswerable };
    });
});

const fitWeights = (rows: typeof answered) => {
  const fitPart = (of: typeof answered) =>
    fitLogistic(
      of.map(({ factors }) => factors),
      of.map(({ isRight }) => isRight),
    );
  return {
    met: fitPart(rows.filter(({ isMet }) => isMet)),
    other: fitPart(rows.filter(({ isMet }) => !isMet)),
  };
};
for (const [kind, weights] of Object.entries(fitWeights(answered)))
  console.log(`${kind}: ${weights.map((weight) => weight.toFixed(3)).join(', ')}`);

/** Each half of the documents by the weights of the other. */
const measured = [0, 1].flatMap((half) => {
  const weights = fitWeights(answered.filter((row) => row.half !== half));
  return answered
    .filter((row) => row.half === half && row.rank === 0)
    .map((row) => ({
      ...row,
      chance: computeLogistic(row.factors, row.isMet ? weights.met : weights.other),
    }));
});
const share = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
const answerable = measured.filter((row) => row.isAnswerable);
const others = measured.filter((row) => !row.isAnswerable);
for (const threshold of [0, 0.03, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5]) {
  const given = answerable.filter(({ chance }) => chance >= threshold);
  const right = given.filter(({ isRight }) => isRight).length;
  const refused = others.filter(({ chance }) => chance < threshold).length;
  console.log(
    `threshold ${threshold}: right of all ${share(right, answerable.length)}, right of given ${share(right, given.length)}, ` +
      `refused of the unanswerable ${share(refused, others.length)}`,
  );
}

function removeAnswer({ document, truths }: LabelledQuestion): string {
  return splitSentences(document)
    .map(({ start, end }) => document.slice(start, end))
    .filter((sentence) => !truths.some((truth) => sentence.toLowerCase().includes(truth.toLowerCase())))
    .join(' ');
}

function computeLogistic(factors: readonly number[], weights: readonly number[]): number {
  const sum = factors.reduce((total, factor, at) => total + factor * (weights[at] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}
