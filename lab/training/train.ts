// Trains every weight file of the reader from the training questions; same data and seed, same bytes.
// Usage: node lab/training/train.ts --data DIR [--out DIR] [--seed N]
//
// Each step learns from what the step before says about questions that step was not trained on (stacking,
// Wolpert 1992): the questions are dealt into folds by document, and a fold is answered by a model of the others.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rankSentences, viewSentences } from '@gaia-mesh/reader/extract.ts';
import { packSpanModel } from '@gaia-mesh/reader/features/span-model.ts';
import { computeTripleFeatures, TOTAL_FEATURE } from '@gaia-mesh/reader/features/triple-features.ts';
import type { TripleSet } from '@gaia-mesh/reader/features/triple-schema.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { type Forest, packForest } from '@gaia-mesh/reader/trees.ts';
import { proposeScoredTriples } from '@gaia-mesh/reader/triple.ts';
import { createSeededRandom, growForest, type RankingRows, type TreeOptions } from './grow-trees.ts';
import { learnEdges, prepareSpans } from './prepare-spans.ts';
import { cutChunks, type LabelledQuestion, readQuestions, scoreSquad } from './read-questions.ts';
import { countFeatures, SPAN_OPTIONS, trainSpans } from './train-spans.ts';

const FOLDS = 3;

type AnsweredQuestion = { labelled: LabelledQuestion; set: TripleSet };
const ANSWER_TREES: Omit<TreeOptions, 'seed'> = {
  trees: 200,
  leaves: 8,
  rate: 0.06,
  minRows: 200,
  l2: 20,
  rowShare: 0.6,
  featureShare: 0.5,
};

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
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
const keepOutsideFold = <T>(items: readonly T[], fold: number): T[] =>
  items.filter((_, index) => folds[index] !== fold);

save('sentences.bin', packForest(trainSentences(widened, seed)));
const sentenceRankers = foldNumbers.map((fold) => trainSentences(keepOutsideFold(widened, fold), seed));
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
  const scorer = trainSpans(keepOutsideFold(spanQuestions, fold), edges, kept, { ...SPAN_OPTIONS, seed });
  for (const [index, { labelled, sentences }] of spanQuestions.entries()) {
    if (folds[index] !== fold) continue;
    answered.push({ labelled, set: proposeScoredTriples(labelled.question, sentences, scorer) });
  }
  log(`fold ${fold}`);
}
save('answers.bin', packForest(trainAnswers(answered, { ...ANSWER_TREES, seed })));

/**
 * Deals questions into folds; those of one document stay together, or a fold would be tested on paragraphs that it has
 * read.
 */
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

/** Trains the ranker of step 2: every sentence that holds an accepted answer word for word is right. */
function trainSentences(questions: readonly LabelledQuestion[], seed: number): Forest {
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

/** Trains the re-ranker of step 4: every triple whose object scores an exact match is right. */
function trainAnswers(questions: readonly AnsweredQuestion[], options: TreeOptions): Forest {
  const features: number[][] = [];
  const targets: number[] = [];
  const starts = [0];
  for (const { labelled, set } of questions) {
    const rights = set.triples.map(({ object }) => scoreSquad(object, labelled.truths).exact);
    if (!rights.includes(1) || !rights.includes(0)) continue;
    features.push(...computeTripleFeatures(parseQuestion(labelled.question), set));
    targets.push(...rights);
    starts.push(features.length);
  }
  const base = Float64Array.from(features, (row) => row[TOTAL_FEATURE] ?? 0);
  return growForest({ features, targets: Float32Array.from(targets), starts, base }, options);
}

/**
 * Widens the training documents, which are single paragraphs, to pages such as users bring: half of the questions get
 * neighbouring paragraphs (of the same article when there are any) around theirs, some with the title as a heading.
 */
function widenDocuments(questions: readonly LabelledQuestion[], seed: number): LabelledQuestion[] {
  const random = createSeededRandom(seed);
  const documents = [...new Set(questions.map((question) => question.document))];
  const places = new Map(documents.map((document, index) => [document, index]));
  return questions.map((question) => {
    const place = places.get(question.document) ?? 0;
    const size = random() < 0.5 ? 0 : 1 + Math.floor(random() * 6);
    const from = Math.max(0, place - Math.floor(random() * (size + 1)));
    const document = documents.slice(from, from + size + 1);
    if (!document.includes(question.document)) document[document.length - 1] = question.document;
    return { ...question, document: document.join('\n\n') };
  });
}
