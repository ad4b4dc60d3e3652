// Trains every weight file of the reader from the training questions; same data, same bytes.
// Usage: node lab/training/train.ts --data DIR [--out DIR]
//
// Each step learns from what the step before says about questions that step was not trained on (stacking,
// Wolpert 1992): the questions are dealt into folds by document, and a fold is answered by a model of the others.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rankSentences, viewSentences } from '@gaia-mesh/reader/extract.ts';
import { createSink, HASH_BITS } from '@gaia-mesh/reader/features/feature-sink.ts';
import { packSpanModel, type SpanModel } from '@gaia-mesh/reader/features/span-model.ts';
import { computeSpanFeatures } from '@gaia-mesh/reader/features/span-scorer.ts';
import { computeTripleFeatures, TOTAL_FEATURE } from '@gaia-mesh/reader/features/triple-features.ts';
import type { TripleSet } from '@gaia-mesh/reader/features/triple-schema.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { type Forest, packForest } from '@gaia-mesh/reader/trees.ts';
import { proposeScoredTriples } from '@gaia-mesh/reader/triple.ts';
import { createSeededRandom, growForest } from './grow-trees.ts';
import { learnEdges, listCandidates, prepareSpans, type SpanQuestion } from './prepare-spans.ts';
import { cutChunks, type LabelledQuestion, readQuestions, scoreSquad } from './read-questions.ts';

const SEED = 1;
const SPAN_EPOCHS = 3;
const SPAN_RATE = 0.05;
/** Number of states, spread over the last epoch, whose mean is kept (Polyak & Juditsky 1992). */
const SPAN_SNAPSHOTS = 8;
/** Minimum questions with a feature; rarer features would be memorised. */
const MIN_QUESTIONS = 100;
const SAMPLE_SHARE = 0.35;

const SIZE = 1 << HASH_BITS;

/**
 * Trains the hashed linear span scorer: softmax over all candidates of a question, the right ones sharing the
 * credit; AdaGrad steps (Duchi et al. 2011).
 */
function trainSpans(questions: readonly SpanQuestion[], edges: Uint8Array, kept: Uint8Array): SpanModel {
  const state: SpanState = {
    weights: new Float32Array(SIZE),
    squares: new Float32Array(SIZE),
    gradient: new Float32Array(SIZE),
    kept,
    random: createSeededRandom(SEED),
  };
  const order = questions.map((_, index) => index);
  const sum = new Float32Array(SIZE);
  let snapshots = 0;
  const stride = Math.ceil(questions.length / SPAN_SNAPSHOTS);
  for (let epoch = 0; epoch < SPAN_EPOCHS; epoch++) {
    shuffle(order, state.random);
    for (const [done, index] of order.entries()) {
      const question = questions[index];
      if (question !== undefined) stepSpans(question, edges, state);
      if (epoch < SPAN_EPOCHS - 1 || ((done + 1) % stride !== 0 && done + 1 < order.length)) continue;
      for (let id = 0; id < SIZE; id++) sum[id] = (sum[id] ?? 0) + (state.weights[id] ?? 0);
      snapshots++;
    }
  }
  return quantize(sum, Math.max(1, snapshots), edges);
}

const sink = createSink();
let ids = new Uint32Array(1 << 20);
const touched: number[] = [];

/** The state of training; `kept` is only read and has 1 for each feature that may have a weight. */
type SpanState = {
  weights: Float32Array;
  squares: Float32Array;
  gradient: Float32Array;
  kept: Uint8Array;
  random: () => number;
};

function stepSpans(question: SpanQuestion, edges: Uint8Array, state: SpanState): void {
  const { weights, squares, gradient, kept, random } = state;
  const all = listCandidates(question, edges);
  const held = new Set(all.filter((candidate) => candidate.right).map((candidate) => candidate.facts));
  if (held.size === 0) return;
  // Sentences without the answer cause most of the work and teach little: a weighted sample of their candidates stands
  // for the rest.
  const candidates = all.filter((candidate) => held.has(candidate.facts) || random() < SAMPLE_SHARE);
  const ends = new Int32Array(candidates.length + 1);
  const scores = new Float64Array(candidates.length);
  let size = 0;
  for (const [index, candidate] of candidates.entries()) {
    computeSpanFeatures(question.asked, candidate.facts, candidate.from, candidate.to, sink);
    if (size + sink.count > ids.length) {
      const larger = new Uint32Array(2 * ids.length);
      larger.set(ids);
      ids = larger;
    }
    let score = held.has(candidate.facts) ? 0 : -Math.log(SAMPLE_SHARE);
    for (let at = 0; at < sink.count; at++) {
      const id = sink.ids[at] ?? 0;
      if (kept[id] === 0) continue;
      ids[size++] = id;
      score += weights[id] ?? 0;
    }
    ends[index + 1] = size;
    scores[index] = score;
  }
  const errors = computeSoftmaxErrors(
    scores,
    candidates.map((candidate) => candidate.right),
  );
  touched.length = 0;
  for (let index = 0; index < candidates.length; index++) {
    const error = errors[index] ?? 0;
    if (Math.abs(error) < 1e-4) continue;
    for (let at = ends[index] ?? 0; at < (ends[index + 1] ?? 0); at++) {
      const id = ids[at] ?? 0;
      if (gradient[id] === 0) touched.push(id);
      gradient[id] = (gradient[id] ?? 0) + error;
    }
  }
  for (const id of touched) {
    const slope = gradient[id] ?? 0;
    gradient[id] = 0;
    squares[id] = (squares[id] ?? 0) + slope * slope;
    weights[id] = (weights[id] ?? 0) + (SPAN_RATE * slope) / (0.3 + Math.sqrt(squares[id] ?? 0));
  }
}

/** Returns the difference between the probability that each candidate should have and the one that it has. */
function computeSoftmaxErrors(scores: Float64Array, rights: readonly boolean[]): Float64Array {
  const top = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const shares = scores.map((score) => Math.exp(score - top));
  let sum = 0;
  let rightSum = 0;
  for (const [index, share] of shares.entries()) {
    sum += share;
    if (rights[index] === true) rightSum += share;
  }
  return shares.map(
    (share, index) => (rights[index] === true ? share / Math.max(rightSum, 1e-12) : 0) - share / sum,
  );
}

/** Returns 1 for every feature that occurs in the candidates of at least {@link MIN_QUESTIONS} questions. */
function countFeatures(questions: readonly SpanQuestion[], edges: Uint8Array): Uint8Array {
  const counts = new Uint16Array(SIZE);
  const seenBy = new Int32Array(SIZE).fill(-1);
  for (const [index, question] of questions.entries()) {
    for (const candidate of listCandidates(question, edges)) {
      computeSpanFeatures(question.asked, candidate.facts, candidate.from, candidate.to, sink);
      for (let at = 0; at < sink.count; at++) {
        const id = sink.ids[at] ?? 0;
        if (seenBy[id] === index) continue;
        seenBy[id] = index;
        counts[id] = (counts[id] ?? 0) + 1;
      }
    }
  }
  return Uint8Array.from(counts, (count) => (count >= MIN_QUESTIONS ? 1 : 0));
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const kept = order[at] ?? 0;
    order[at] = order[other] ?? 0;
    order[other] = kept;
  }
}

/** Rounds the mean of `count` states to int8 with one scale; the largest 0.1 % of the weights are clipped. */
function quantize(weights: Float32Array, count: number, edges: Uint8Array): SpanModel {
  const sizes = weights
    .filter((weight) => weight !== 0)
    .map(Math.abs)
    .sort();
  const limit = sizes[Math.floor(0.999 * sizes.length)] ?? 1;
  const scale = limit / 127;
  return {
    edges,
    scale: scale / count,
    weights: Int8Array.from(weights, (weight) => Math.max(-127, Math.min(127, Math.round(weight / scale)))),
  };
}

const FOLDS = 3;

type AnsweredQuestion = { labelled: LabelledQuestion; set: TripleSet };

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('usage: train.ts --data DIR [--out DIR]');
const data = values.data;
const out = values.out ?? fileURLToPath(new URL('../../tools/reader/weights/', import.meta.url));

const questions = ['train_wiki.jsonl.gz', 'train_nq.jsonl.gz'].flatMap((name) =>
  readQuestions(join(data, name)),
);
const widened = widenDocuments(questions);
const folds = dealFolds(questions);
const foldNumbers = Array.from({ length: FOLDS }, (_, fold) => fold);
const keepOutsideFold = <T>(items: readonly T[], fold: number): T[] =>
  items.filter((_, index) => folds[index] !== fold);

save('sentences.bin', packForest(trainSentences(widened)));
const sentenceRankers = foldNumbers.map((fold) => trainSentences(keepOutsideFold(widened, fold)));
const spanQuestions = widened.map((labelled, index) => {
  const passages = searchPassages(labelled.question, cutChunks(labelled.document));
  const sentences = rankSentences(labelled.question, passages, sentenceRankers[folds[index] ?? 0]);
  return prepareSpans(labelled, sentences);
});
log('prepared');

const edges = learnEdges(spanQuestions, 0.001);
const kept = countFeatures(spanQuestions, edges);
log('counted');
save('spans.bin', packSpanModel(trainSpans(spanQuestions, edges, kept)));

const answered: AnsweredQuestion[] = [];
for (const fold of foldNumbers) {
  const scorer = trainSpans(keepOutsideFold(spanQuestions, fold), edges, kept);
  for (const [index, { labelled, sentences }] of spanQuestions.entries()) {
    if (folds[index] !== fold) continue;
    answered.push({ labelled, set: proposeScoredTriples(labelled.question, sentences, scorer) });
  }
  log(`fold ${fold}`);
}
save('answers.bin', packForest(trainAnswers(answered)));

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
function trainSentences(questions: readonly LabelledQuestion[]): Forest {
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
  return growForest(
    { features, targets: Float32Array.from(targets), starts },
    {
      trees: 140,
      leaves: 12,
      rate: 0.1,
      minRows: 60,
      l2: 5,
      rowShare: 0.7,
      featureShare: 0.6,
      seed: SEED,
    },
  );
}

/** Trains the re-ranker of step 4: every triple whose object scores an exact match is right. */
function trainAnswers(questions: readonly AnsweredQuestion[]): Forest {
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
  return growForest(
    { features, targets: Float32Array.from(targets), starts, base },
    {
      trees: 200,
      leaves: 8,
      rate: 0.06,
      minRows: 200,
      l2: 20,
      rowShare: 0.6,
      featureShare: 0.5,
      seed: SEED,
    },
  );
}

/**
 * Widens the training documents, which are single paragraphs, to pages such as users bring: half of the questions get
 * neighbouring paragraphs (of the same article when there are any) around theirs, some with the title as a heading.
 */
function widenDocuments(questions: readonly LabelledQuestion[]): LabelledQuestion[] {
  const random = createSeededRandom(SEED);
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
