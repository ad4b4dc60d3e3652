// Computes the features of candidate spans, as hashed numbers, and adds up their weights. Features come in parts, each of
// which depends on one thing (the span's beginning, its end, its head, its shape ...). Spans of a sentence or a question
// share most of a span's 200 or so features, so the scorer keeps their sums by part and computes about 20 for each span.
// The numbers from 101 on separate features that would otherwise hash alike; changing one of them needs new weights.
import { mix } from '../hash.ts';
import type { AskedView } from '../language/asked-view.ts';
import type { Token } from '../language/tag-words.ts';
import {
  addFeature,
  BESIDE,
  createSink,
  type FeatureSink,
  FOCUS,
  GROUPS,
  MATCH,
  ORDER,
  PLAIN,
  SHAPE,
} from './feature-sink.ts';
import { addHeadMatches, addLeftMatches, addNearest, addRightMatches } from './match-features.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import { MAX_SPAN_TOKENS, type TokenSpan } from './span-model.ts';
import {
  addCase,
  CASES,
  CASES_OF_SPAN,
  createSpanView,
  FIRST_MATCH_CASE,
  FIRST_ORDER_CASE,
  type SpanView,
  viewSpan,
} from './span-view.ts';

/** Number used beyond the ends of the sentence, larger than every tag. */
const NO_TAG = 30;

const span = createSpanView();

/** Fills `sink` with all features of tokens from..to. */
export function computeSpanFeatures(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  viewSpan(span, asked, facts, from, to);
  sink.count = 0;
  addSentence(asked, facts, sink);
  addLeft(asked, facts, from, sink);
  addRight(asked, facts, to, sink);
  addHead(asked, facts, span.head, sink);
  addShape(asked, span.shape, sink);
  addPath(asked, span.path, sink);
  addLength(asked, to - from, sink);
  addNearest(asked, facts, span.near, sink);
  for (const number of span.cases) addCase(asked, number, sink);
  addPairs(asked, facts, span, sink);
}

/** Adds the rank, score and coverage of the span's sentence. */
function addSentence(asked: AskedView, facts: SentenceFacts, sink: FeatureSink): void {
  addFeature(sink, ORDER, 9, mix(facts.rank, 322));
  addFeature(sink, ORDER, 9, mix(facts.scoreBucket, 323));
  addFeature(sink, ORDER, asked.kind, mix(facts.scoreBucket, 324));
  addFeature(sink, ORDER, asked.kind, mix(facts.coverBucket, 325));
}

/** Crosses a trait of the span with each name of the thing asked for. */
function cross(asked: AskedView, trait: number, sink: FeatureSink): void {
  for (const ask of asked.plainAsks) addFeature(sink, PLAIN, ask, trait);
  for (const ask of asked.focusAsks) addFeature(sink, FOCUS, ask, trait);
}

function addShape(asked: AskedView, shape: number, sink: FeatureSink): void {
  const trait = mix(shape, 101);
  cross(asked, trait, sink);
  for (const word of asked.bag) addFeature(sink, SHAPE, mix(word, 113), trait);
  if (asked.preposition !== 0) addFeature(sink, BESIDE, mix(asked.preposition, 212), shape);
}

function addPath(asked: AskedView, path: number, sink: FeatureSink): void {
  cross(asked, mix(path, 102), sink);
}

function addLength(asked: AskedView, length: number, sink: FeatureSink): void {
  cross(asked, mix(Math.min(length, 9), 103), sink);
}

function addHead(asked: AskedView, facts: SentenceFacts, at: number, sink: FeatureSink): void {
  const head = facts.tokens[at];
  if (head === undefined) return;
  const fine = hashHeadClass(head);
  cross(asked, fine, sink);
  cross(asked, mix(head.coarse + 1, head.capital ? 107 : 106), sink);
  cross(asked, mix(head.stemHash, 112), sink);
  for (const word of asked.bag) addFeature(sink, SHAPE, mix(word, 114), fine);
  addHeadMatches(asked, facts, at, sink);
}

function hashHeadClass(head: Token | undefined): number {
  return head === undefined ? 0 : mix(head.fine + 1, head.capital ? 105 : 104);
}

/** Adds features that depend on the span's beginning: its first token and the words before it. */
function addLeft(asked: AskedView, facts: SentenceFacts, from: number, sink: FeatureSink): void {
  const { tokens } = facts;
  const { kind, preposition } = asked;
  const first = tokens[from];
  if (first === undefined) return;
  const before = tokens[from - 1];
  const before2 = tokens[from - 2];
  cross(asked, mix(first.fine + 1, first.capital ? 109 : 108), sink);
  cross(asked, mix(first.lowerHash, 110), sink);
  const word = hashWordBefore(tokens, from);
  const edge = hashLeftEdge(tokens, from);
  const pair = mix(mix(word, before2?.lowerHash ?? 1), 205);
  addFeature(sink, BESIDE, 7, edge);
  addFeature(sink, BESIDE, 7, word);
  addFeature(sink, BESIDE, word, edge);
  for (const ask of asked.besideAsks) {
    addFeature(sink, BESIDE, ask, word);
    addFeature(sink, BESIDE, ask, edge);
    addFeature(sink, BESIDE, ask, pair);
  }
  addFeature(sink, BESIDE, kind, mix(before?.fine ?? -2, 207));
  const tags = mix(before2?.tag ?? NO_TAG, before?.tag ?? NO_TAG);
  addFeature(sink, BESIDE, mix(kind, tags), mix(first.tag, 209));
  if (preposition !== 0) {
    addFeature(sink, BESIDE, preposition, word);
    addFeature(sink, BESIDE, 211, preposition === before?.lowerHash ? 1 : 0);
  }
  addLeftMatches(asked, facts, from, sink);
}

/** Adds features that depend on the span's end: its last token and the words behind it. */
function addRight(asked: AskedView, facts: SentenceFacts, to: number, sink: FeatureSink): void {
  const { tokens } = facts;
  const { kind } = asked;
  const last = tokens[to];
  if (last === undefined) return;
  const after = tokens[to + 1];
  const after2 = tokens[to + 2];
  cross(asked, mix(last.lowerHash, 111), sink);
  const word = hashWordAfter(tokens, to);
  const edge = hashRightEdge(tokens, to);
  addFeature(sink, BESIDE, 7, edge);
  addFeature(sink, BESIDE, 7, word);
  addFeature(sink, BESIDE, word, edge);
  for (const ask of asked.besideAsks) {
    addFeature(sink, BESIDE, ask, word);
    addFeature(sink, BESIDE, ask, edge);
  }
  addFeature(sink, BESIDE, kind, mix(mix(word, after2?.lowerHash ?? 1), 206));
  addFeature(sink, BESIDE, kind, mix(after?.fine ?? -2, 208));
  const tags = mix(after?.tag ?? NO_TAG, after2?.tag ?? NO_TAG);
  addFeature(sink, BESIDE, mix(kind, tags), mix(last.tag, 210));
  addRightMatches(asked, facts, to, sink);
}

function hashWordBefore(tokens: readonly Token[], from: number): number {
  return mix(tokens[from - 1]?.lowerHash ?? 1, 201);
}

function hashWordAfter(tokens: readonly Token[], to: number): number {
  return mix(tokens[to + 1]?.lowerHash ?? 1, 202);
}

function hashLeftEdge(tokens: readonly Token[], from: number): number {
  return mix((tokens[from - 1]?.tag ?? NO_TAG) * 32 + (tokens[from]?.tag ?? NO_TAG), 203);
}

function hashRightEdge(tokens: readonly Token[], to: number): number {
  return mix((tokens[to]?.tag ?? NO_TAG) * 32 + (tokens[to + 1]?.tag ?? NO_TAG), 204);
}

/** Adds features that depend on two of the span's traits at once, the only ones computed for each span. */
function addPairs(asked: AskedView, facts: SentenceFacts, view: SpanView, sink: FeatureSink): void {
  const { tokens } = facts;
  const { from, to, shape } = view;
  const { kind } = asked;
  const kindShape = mix(kind, shape);
  const trait = mix(shape, 101);
  addFeature(sink, SHAPE, trait, mix(view.path, 102));
  addFeature(sink, SHAPE, trait, hashHeadClass(tokens[view.head]));

  const left = hashLeftEdge(tokens, from);
  const right = hashRightEdge(tokens, to);
  const before = hashWordBefore(tokens, from);
  const after = hashWordAfter(tokens, to);
  addFeature(sink, BESIDE, mix(left, right), to - from);
  addFeature(sink, BESIDE, left, right);
  addFeature(sink, BESIDE, before, shape);
  addFeature(sink, BESIDE, after, shape);
  addFeature(sink, BESIDE, mix(kind, before), shape);
  addFeature(sink, BESIDE, mix(kind, after), shape);
  addFeature(sink, BESIDE, kindShape, mix(view.edges, 214));
  addFeature(sink, BESIDE, shape, mix(view.goesOn, 216));

  addFeature(sink, MATCH, shape, mix(view.distance, 309));
  if ((facts.leftMatch[from] ?? -1) >= 0)
    addFeature(sink, MATCH, mix(kind, facts.leftPath[from] ?? 0), mix(shape, 314));
  if ((facts.rightMatch[to] ?? -1) >= 0)
    addFeature(sink, MATCH, mix(kind, facts.rightPath[to] ?? 0), mix(shape, 318));
  const neighbour = tokens[view.near >> 1];
  if (neighbour !== undefined) {
    const side = view.near & 1;
    addFeature(sink, MATCH, kindShape, mix(neighbour.tag * 2 + side, 336));
    addFeature(sink, MATCH, neighbour.stemHash, mix(mix(shape, side), 338));
  }

  if (asked.focus !== '') addFeature(sink, ORDER, shape, mix(view.focusPlace, 504));
  addFeature(sink, ORDER, shape, mix(facts.scoreBucket, 326));
}

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
