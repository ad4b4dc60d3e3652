import { createSink, HASH_BITS } from '@gaia-mesh/reader/features/feature-sink.ts';
import { computeSpanFeatures } from '@gaia-mesh/reader/features/span-features.ts';
import type { SpanModel } from '@gaia-mesh/reader/features/span-model.ts';
import { createSeededRandom } from './grow-trees.ts';
import { listCandidates, type SpanQuestion } from './prepare-spans.ts';

type SpanOptions = {
  /** Number of states, spread over the last epoch, whose mean is kept (Polyak & Juditsky 1992). */
  snapshots: number;
  epochs: number;
  rate: number;
  /** Minimum questions with a feature; rarer features would be memorised. */
  minQuestions: number;
  seed: number;
};

export const SPAN_OPTIONS: Omit<SpanOptions, 'seed'> = {
  epochs: 3,
  rate: 0.05,
  snapshots: 8,
  minQuestions: 100,
};

const SAMPLE_SHARE = 0.35;

const SIZE = 1 << HASH_BITS;

/**
 * Trains the hashed linear span scorer: softmax over all candidates of a question, the right ones sharing the
 * credit; AdaGrad steps (Duchi et al. 2011).
 */
export function trainSpans(
  questions: readonly SpanQuestion[],
  edges: Uint8Array,
  kept: Uint8Array,
  options: SpanOptions,
): SpanModel {
  const state: SpanState = {
    weights: new Float32Array(SIZE),
    squares: new Float32Array(SIZE),
    gradient: new Float32Array(SIZE),
    kept,
    rate: options.rate,
    random: createSeededRandom(options.seed),
  };
  const order = questions.map((_, index) => index);
  const sum = new Float32Array(SIZE);
  let snapshots = 0;
  const stride = Math.ceil(questions.length / options.snapshots);
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    shuffle(order, state.random);
    for (const [done, index] of order.entries()) {
      const question = questions[index];
      if (question !== undefined) stepSpans(question, edges, state);
      if (epoch < options.epochs - 1 || ((done + 1) % stride !== 0 && done + 1 < order.length)) continue;
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
  rate: number;
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
    weights[id] = (weights[id] ?? 0) + (state.rate * slope) / (0.3 + Math.sqrt(squares[id] ?? 0));
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

/** Returns 1 for every feature that occurs in the candidates of at least `minQuestions` questions. */
export function countFeatures(
  questions: readonly SpanQuestion[],
  edges: Uint8Array,
  minQuestions: number,
): Uint8Array {
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
  return Uint8Array.from(counts, (count) => (count >= minQuestions ? 1 : 0));
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
