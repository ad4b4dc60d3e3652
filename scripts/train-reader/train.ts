// Trains every weight file of the reader from the training questions; same data and seed, same bytes.
// Usage: node scripts/train-reader/train.ts --data DIR [--out DIR] [--seed N]
//
// Each step learns from what the step before says about questions that step was not trained on (stacking,
// Wolpert 1992): the questions are dealt into folds by document, and a fold is answered by a model of the others.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rankSentences } from '../../tools/reader/extract.ts';
import { searchPassages } from '../../tools/reader/search.ts';
import { packSpanModel } from '../../tools/reader/span-model.ts';
import { proposeWith } from '../../tools/reader/triple.ts';
import { packForest } from './grow-trees.ts';
import { learnEdges, prepareSpans } from './prepare-spans.ts';
import { cutChunks, type LabelledQuestion, readQuestions } from './read-questions.ts';
import { ANSWER_TREES, type AnsweredQuestion, trainAnswers } from './train-answers.ts';
import { trainSentences } from './train-sentences.ts';
import { countFeatures, SPAN_OPTIONS, trainSpans } from './train-spans.ts';
import { widenDocuments } from './widen-documents.ts';

const FOLDS = 3;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    stack: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('usage: train.ts --data DIR [--out DIR] [--seed N]');
const data = values.data;
const out = values.out ?? fileURLToPath(new URL('../../tools/reader/weights/', import.meta.url));
const seed = Number(values.seed);

const questions = ['train_wiki.jsonl.gz', 'train_nq.jsonl.gz'].flatMap((name) =>
  readQuestions(join(data, name)),
);
const widened = widenDocuments(questions, seed);
const folds = dealFolds(questions);
const foldNumbers = Array.from({ length: FOLDS }, (_, fold) => fold);
const outside = <T>(items: readonly T[], fold: number): T[] =>
  items.filter((_, index) => folds[index] !== fold);

save('sentences.bin', packForest(trainSentences(widened, seed)));
const sentenceRankers = foldNumbers.map((fold) => trainSentences(outside(widened, fold), seed));
const spanQuestions = widened.map((labelled, index) => {
  const passages = searchPassages(labelled.question, cutChunks(labelled.document));
  const sentences = rankSentences(labelled.question, passages, sentenceRankers[folds[index] ?? 0]);
  return prepareSpans(labelled, sentences);
});
log('prepared');

const edges = learnEdges(spanQuestions, 0.001);
const kept = countFeatures(spanQuestions, edges, SPAN_OPTIONS.minQuestions);
log('counted');
save('spans.bin', packSpanModel(trainSpans(spanQuestions, edges, kept, { ...SPAN_OPTIONS, seed })));

const answered: AnsweredQuestion[] = [];
for (const fold of foldNumbers) {
  const scorer = trainSpans(outside(spanQuestions, fold), edges, kept, { ...SPAN_OPTIONS, seed });
  for (const [index, { labelled, sentences }] of spanQuestions.entries()) {
    if (folds[index] !== fold) continue;
    answered.push({ labelled, set: proposeWith(labelled.question, sentences, scorer) });
  }
  log(`fold ${fold}`);
}
// --stack keeps what step 3 said, so that the re-ranker alone can be tuned without training the rest again.
if (values.stack !== undefined) writeFileSync(values.stack, JSON.stringify(answered));
save('answers.bin', packForest(trainAnswers(answered, { ...ANSWER_TREES, seed })));

/** Questions of one document stay together, or a fold would be tested on paragraphs it has read. */
function dealFolds(all: readonly LabelledQuestion[]): number[] {
  const numbers = new Map<string, number>();
  return all.map(({ document }) => {
    const number = numbers.get(document) ?? numbers.size;
    numbers.set(document, number);
    return Math.floor(number / 20) % FOLDS;
  });
}

function save(name: string, bytes: Uint8Array): void {
  writeFileSync(join(out, name), bytes);
  log(`${name} ${bytes.length} bytes`);
}

function log(message: string): void {
  console.log(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${message}`);
}
