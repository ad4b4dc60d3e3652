// Adds up the weights of each span's features. Most of a span's 200 or so features are shared with other spans of its
// sentence or question, so that their sums are kept by part (see span-features.ts): about 20 remain to be computed for
// each span.
import type { AskedView } from '../language/asked-view.ts';
import { BESIDE, createSink, type FeatureSink, GROUPS, MATCH, ORDER } from './feature-sink.ts';
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

const view = createSpanView();

/** Sums of one kind of part by its number, each computed at its first use. */
class PartSums {
  readonly sums: number[] = [];
  readonly #starts: number[];
  readonly #sink: FeatureSink;
  readonly #add: (number: number) => void;

  /** Uses `add` to put the features of one part into the sink; numbers beyond `size` must come in order. */
  constructor(size: number, sink: FeatureSink, add: (number: number) => void) {
    this.#starts = new Array<number>(size).fill(-1);
    this.#sink = sink;
    this.#add = add;
  }

  /** Returns the index in `sums` at which the sums of the part begin. */
  startOf(number: number): number {
    const known = this.#starts[number] ?? -1;
    if (known >= 0) return known;
    const start = this.sums.length;
    this.#starts[number] = start;
    this.#sink.sums.fill(0);
    this.#add(number);
    for (const sum of this.#sink.sums) this.sums.push(sum);
    return start;
  }
}

/** Sums of parts that are named by a hash instead of a number. */
class HashedSums {
  readonly parts: PartSums;
  readonly #hashes: number[] = [];
  readonly #numbers = new Map<number, number>();

  constructor(sink: FeatureSink, add: (hash: number) => void) {
    this.parts = new PartSums(0, sink, (number) => add(this.#hashes[number] ?? 0));
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
  readonly #sink: FeatureSink;
  readonly #shapes: HashedSums;
  readonly #paths: HashedSums;
  readonly #lengths: PartSums;
  /** Sum of each case: a case has all its features in one group, so that one number suffices. */
  readonly #cases = new Int32Array(CASES);
  readonly #knownCases = new Uint8Array(CASES);

  constructor(weights: Int8Array, asked: AskedView) {
    const sink = createSink(weights);
    this.#sink = sink;
    this.#asked = asked;
    this.#shapes = new HashedSums(sink, (shape) => addShape(asked, shape, sink));
    this.#paths = new HashedSums(sink, (path) => addPath(asked, path, sink));
    this.#lengths = new PartSums(MAX_SPAN_TOKENS, sink, (length) => addLength(asked, length, sink));
  }

  /** Returns six sums of weights for each span of a sentence, one per feature group. */
  score(facts: SentenceFacts, spans: readonly TokenSpan[]): Int32Array {
    const asked = this.#asked;
    const sink = this.#sink;
    const shapes = this.#shapes;
    const paths = this.#paths;
    const lengths = this.#lengths;
    const size = facts.tokens.length;
    const lefts = new PartSums(size, sink, (at) => addLeft(asked, facts, at, sink));
    const rights = new PartSums(size, sink, (at) => addRight(asked, facts, at, sink));
    const heads = new PartSums(size, sink, (at) => addHead(asked, facts, at, sink));
    // Reserves one more entry for "none", which is -1.
    const nears = new PartSums(2 * size + 1, sink, (at) => addNearest(asked, facts, at - 1, sink));
    const sentence = new PartSums(1, sink, () => addSentence(asked, facts, sink));
    sentence.startOf(0);
    const all = new Int32Array(spans.length * GROUPS);
    for (let index = 0; index < spans.length; index++) {
      const span = spans[index];
      if (span === undefined) continue;
      viewSpan(view, asked, facts, span.from, span.to);
      const left = lefts.startOf(span.from);
      const right = rights.startOf(span.to);
      const head = heads.startOf(view.head);
      const near = nears.startOf(view.near + 1);
      const shape = shapes.startOf(view.shape);
      const path = paths.startOf(view.path);
      const length = lengths.startOf(span.to - span.from);
      this.#readCases();
      sink.sums.fill(0);
      addPairs(asked, facts, view, sink);
      this.#addCases();
      for (let group = 0; group < GROUPS; group++) {
        all[index * GROUPS + group] =
          (sink.sums[group] ?? 0) +
          (sentence.sums[group] ?? 0) +
          (lefts.sums[left + group] ?? 0) +
          (rights.sums[right + group] ?? 0) +
          (heads.sums[head + group] ?? 0) +
          (nears.sums[near + group] ?? 0) +
          (shapes.parts.sums[shape + group] ?? 0) +
          (paths.parts.sums[path + group] ?? 0) +
          (lengths.sums[length + group] ?? 0);
      }
    }
    return all;
  }

  /** Adds up the span's cases that no earlier span had. */
  #readCases(): void {
    const { sums } = this.#sink;
    for (const number of view.cases) {
      if (this.#knownCases[number] === 1) continue;
      sums.fill(0);
      addCase(this.#asked, number, this.#sink);
      this.#knownCases[number] = 1;
      this.#cases[number] = (sums[BESIDE] ?? 0) + (sums[MATCH] ?? 0) + (sums[ORDER] ?? 0);
    }
  }

  #addCases(): void {
    const { sums } = this.#sink;
    for (let at = 0; at < CASES_OF_SPAN; at++) {
      const group = at < FIRST_MATCH_CASE ? BESIDE : at < FIRST_ORDER_CASE ? MATCH : ORDER;
      sums[group] = (sums[group] ?? 0) + (this.#cases[view.cases[at] ?? 0] ?? 0);
    }
  }
}
