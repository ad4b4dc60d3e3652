// Adds up the weights of each span's features. Most of a span's some 200 features are shared with other spans of its
// sentence or question, so their sums are kept by part (see span-features.ts): about 20 are left to do for each span.
import type { AskedView } from './asked-view.ts';
import { BESIDE, createSink, GROUPS, MATCH, ORDER } from './feature-sink.ts';
import { addNearest } from './match-features.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import { addCase, CASES, CASES_OF_SPAN, FIRST_MATCH_CASE, FIRST_ORDER_CASE } from './span-cases.ts';
import {
  addHead,
  addLeft,
  addLength,
  addPairs,
  addPath,
  addRight,
  addSentence,
  addShape,
} from './span-features.ts';
import { MAX_SPAN_TOKENS, type TokenSpan } from './span-model.ts';
import { createSpanView, viewSpan } from './span-view.ts';

const sink = createSink();
const view = createSpanView();

/** Adds the weights of the features in the sink to the six sums that begin at `start`. */
function addWeights(weights: Int8Array, sums: number[] | Int32Array, start: number): void {
  for (let at = 0; at < sink.count; at++) {
    const place = start + (sink.groups[at] ?? 0);
    sums[place] = (sums[place] ?? 0) + (weights[sink.ids[at] ?? 0] ?? 0);
  }
}

/** The sums of one kind of part by its number, each added up when it is first asked for. */
class PartSums {
  readonly sums: number[] = [];
  readonly #starts: number[];
  readonly #weights: Int8Array;
  readonly #list: (number: number) => void;

  /** `list` writes the features of the part with that number into the sink; numbers beyond `size` come in order. */
  constructor(size: number, weights: Int8Array, list: (number: number) => void) {
    this.#starts = new Array<number>(size).fill(-1);
    this.#weights = weights;
    this.#list = list;
  }

  /** Where in `sums` those of the part begin. */
  startOf(number: number): number {
    const known = this.#starts[number] ?? -1;
    if (known >= 0) return known;
    const start = this.sums.length;
    this.#starts[number] = start;
    for (let group = 0; group < GROUPS; group++) this.sums.push(0);
    sink.count = 0;
    this.#list(number);
    addWeights(this.#weights, this.sums, start);
    return start;
  }
}

/** The same for parts that are named by a hash. */
class HashedSums {
  readonly parts: PartSums;
  readonly #hashes: number[] = [];
  readonly #numbers = new Map<number, number>();

  constructor(weights: Int8Array, list: (hash: number) => void) {
    this.parts = new PartSums(0, weights, (number) => list(this.#hashes[number] ?? 0));
  }

  startOf(hash: number): number {
    const known = this.#numbers.get(hash);
    if (known !== undefined) return this.parts.startOf(known);
    this.#numbers.set(hash, this.#hashes.length);
    return this.parts.startOf(this.#hashes.push(hash) - 1);
  }
}

/** Scores the spans of one question's sentences. */
export class SpanScorer {
  readonly #asked: AskedView;
  readonly #weights: Int8Array;
  readonly #shapes: HashedSums;
  readonly #paths: HashedSums;
  readonly #lengths: PartSums;
  /** A case has all its features in one group, so its sum is one number. */
  readonly #cases = new Int32Array(CASES);
  readonly #knownCases = new Uint8Array(CASES);

  constructor(weights: Int8Array, asked: AskedView) {
    this.#weights = weights;
    this.#asked = asked;
    this.#shapes = new HashedSums(weights, (shape) => addShape(asked, shape, sink));
    this.#paths = new HashedSums(weights, (path) => addPath(asked, path, sink));
    this.#lengths = new PartSums(MAX_SPAN_TOKENS, weights, (length) => addLength(asked, length, sink));
  }

  /** Six sums of weights for each span of a sentence, by feature group. */
  score(facts: SentenceFacts, spans: readonly TokenSpan[]): Int32Array {
    const asked = this.#asked;
    const weights = this.#weights;
    const size = facts.tokens.length;
    const lefts = new PartSums(size, weights, (at) => addLeft(asked, facts, at, sink));
    const rights = new PartSums(size, weights, (at) => addRight(asked, facts, at, sink));
    const heads = new PartSums(size, weights, (at) => addHead(asked, facts, at, sink));
    // One more for "none", which is -1.
    const nears = new PartSums(2 * size + 1, weights, (at) => addNearest(asked, facts, at - 1, sink));
    const sentence = new PartSums(1, weights, () => addSentence(asked, facts, sink));
    sentence.startOf(0);
    const all = new Int32Array(spans.length * GROUPS);
    for (let index = 0; index < spans.length; index++) {
      const { from = 0, to = 0 } = spans[index] ?? {};
      viewSpan(view, asked, facts, from, to);
      const start = index * GROUPS;
      const left = lefts.startOf(from);
      const right = rights.startOf(to);
      const head = heads.startOf(view.head);
      const near = nears.startOf(view.near + 1);
      const shape = this.#shapes.startOf(view.shape);
      const path = this.#paths.startOf(view.path);
      const length = this.#lengths.startOf(to - from);
      for (let group = 0; group < GROUPS; group++) {
        all[start + group] =
          (sentence.sums[group] ?? 0) +
          (lefts.sums[left + group] ?? 0) +
          (rights.sums[right + group] ?? 0) +
          (heads.sums[head + group] ?? 0) +
          (nears.sums[near + group] ?? 0) +
          (this.#shapes.parts.sums[shape + group] ?? 0) +
          (this.#paths.parts.sums[path + group] ?? 0) +
          (this.#lengths.sums[length + group] ?? 0);
      }
      this.#addCases(all, start);
      sink.count = 0;
      addPairs(asked, facts, view, sink);
      addWeights(weights, all, start);
    }
    return all;
  }

  #addCases(all: Int32Array, start: number): void {
    const { cases } = view;
    for (let at = 0; at < CASES_OF_SPAN; at++) {
      const place = start + (CASE_GROUPS[at] ?? 0);
      all[place] = (all[place] ?? 0) + this.#sumOfCase(cases[at] ?? 0);
    }
  }

  #sumOfCase(number: number): number {
    if (this.#knownCases[number] === 1) return this.#cases[number] ?? 0;
    sink.count = 0;
    addCase(this.#asked, number, sink);
    let sum = 0;
    for (let at = 0; at < sink.count; at++) sum += this.#weights[sink.ids[at] ?? 0] ?? 0;
    this.#knownCases[number] = 1;
    this.#cases[number] = sum;
    return sum;
  }
}

const CASE_GROUPS = Uint8Array.from({ length: CASES_OF_SPAN }, (_, at) =>
  at < FIRST_MATCH_CASE ? BESIDE : at < FIRST_ORDER_CASE ? MATCH : ORDER,
);
