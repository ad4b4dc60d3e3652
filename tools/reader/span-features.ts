// The features of one candidate span, as hashed numbers: what is asked × what the span looks like, what stands
// around it, and how it stands to the question's words. The groups are scored apart, so that step 4 can weigh them.
import { hashWord, mix } from './hash.ts';
import type { Question } from './question.ts';
import { headOf, spanShape, tagNumber, tagPath } from './span-shapes.ts';
import type { Token } from './tag-words.ts';
import { coarseClass, fineClass, rowSimilarity, wordRow } from './vectors.ts';
import { isStopWord, splitWords } from './words.ts';

export const GROUPS = 3;
export const HASH_BITS = 22;
const HASH_SHIFT = 32 - HASH_BITS;

/** Collects the features of one span; the ids of group g end at `ends[g]`. */
export type FeatureSink = { ids: Uint32Array; count: number; ends: number[]; shape: number; head: number };

export function createSink(): FeatureSink {
  return { ids: new Uint32Array(512), count: 0, ends: [0, 0, 0], shape: 0, head: 0 };
}

/** What the features need of the question, once. */
export type AskedView = {
  kind: number;
  /** Ever finer names of what is asked for; each is crossed with each form of the answer. */
  asks: number[];
  stems: Set<string>;
  termCount: number;
  focus: string;
  focusRow: number;
  verb: string;
  verbRow: number;
  afterWh: string[];
  last: string;
  preposition: number;
  /** Every topic word of the question, for questions whose focus was read wrongly. */
  bag: number[];
};

export function viewQuestion(question: Question): AskedView {
  const kind = hashWord(question.kind);
  const { words, focus, verb, next } = question;
  const focusRow = focus === '' ? -1 : wordRow(focus);
  const verbWord = words.find((word) => word.stem === verb);
  const verbRow = verbWord === undefined ? -1 : wordRow(verbWord.lower);
  const wh = words.findIndex((word) => /^(?:who|whom|whose|when|where|why|how|what|which)$/.test(word.lower));
  const afterWh = words
    .slice(Math.max(0, wh + 1))
    .filter((word) => !isStopWord(word.lower) && word.lower !== focus)
    .slice(0, 2)
    .map((word) => word.stem);
  const lastWord = words.at(-1)?.lower ?? '';
  const endsInPreposition = /^(?:in|at|on|by|to|from|for|with|of|into|under|after|as)$/.test(lastWord);
  const before = words[wh - 1]?.lower ?? '';
  const leads = /^(?:in|at|on|by|to|from|for|with|of|into|under|after|during|as)$/.test(before);
  return {
    kind,
    asks: [
      kind,
      mix(kind, hashWord(focus) + 1),
      mix(kind, fineClass(focusRow) + 1000),
      mix(kind, coarseClass(focusRow) + 2000),
      mix(kind, hashWord(next) + 3),
      mix(kind, fineClass(verbRow) + 4000),
      mix(mix(kind, hashWord(verb)), 5),
    ],
    stems: new Set(question.terms),
    termCount: question.terms.length,
    focus,
    focusRow,
    verb,
    verbRow,
    afterWh,
    last: question.terms.at(-1) ?? '',
    bag: [
      ...question.terms.slice(0, 10).map(hashWord),
      mix(hashWord(next), hashWord(words[wh + 2]?.lower ?? '')),
    ],
    preposition: endsInPreposition ? hashWord(lastWord) : leads ? hashWord(before) : 0,
  };
}

/** What the features need of one sentence, once per question. */
export type SentenceFacts = {
  tokens: readonly Token[];
  matched: Uint8Array;
  /** Matched tokens before each place, so that a window's count is one subtraction. */
  matchedBefore: Uint16Array;
  leftMatch: Int16Array;
  rightMatch: Int16Array;
  leftVerb: Int16Array;
  rightVerb: Int16Array;
  verbAt: number;
  focusAt: number;
  firstVerb: number;
  quoteDepth: Uint8Array;
  /** Number of the clause each token stands in, and how many topic words each clause holds. */
  clause: Uint8Array;
  clauseMatches: Uint8Array;
  inHeading: Uint8Array;
  /** Likeness of each token to the question's focus and verb, in sixths and fifths; 9 is the same stem. */
  focusLikeness: Int8Array;
  verbLikeness: Int8Array;
  rank: number;
  scoreBucket: number;
  coverBucket: number;
};

export type SentencePlace = { rank: number; score: number; bestScore: number; heading: string | undefined };

const VERB = tagNumber('VERB');
const AUX = tagNumber('AUX');

export function viewSentence(
  tokens: readonly Token[],
  asked: AskedView,
  place: SentencePlace,
): SentenceFacts {
  const size = tokens.length;
  const matched = new Uint8Array(size);
  const matchedBefore = new Uint16Array(size + 1);
  const leftMatch = new Int16Array(size).fill(-1);
  const rightMatch = new Int16Array(size).fill(-1);
  const leftVerb = new Int16Array(size).fill(-1);
  const rightVerb = new Int16Array(size).fill(-1);
  const quoteDepth = new Uint8Array(size);
  const focusLikeness = new Int8Array(size);
  const verbLikeness = new Int8Array(size);
  const covered = new Set<string>();
  const clause = new Uint8Array(size);
  const clauseMatches = new Uint8Array(size + 1);
  const inHeading = new Uint8Array(size);
  const heading = new Set(splitWords(place.heading ?? '').map((word) => word.lower));
  let clauseNumber = 0;
  let verbAt = -1;
  let focusAt = -1;
  let firstVerb = -1;
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (asked.stems.has(token.stem)) {
      matched[at] = 1;
      covered.add(token.stem);
    }
    matchedBefore[at + 1] = (matchedBefore[at] ?? 0) + (matched[at] ?? 0);
    if (asked.verb !== '' && token.stem === asked.verb) verbAt = at;
    if (asked.focus !== '' && token.lower === asked.focus) focusAt = at;
    if (firstVerb < 0 && (token.tag === VERB || token.tag === AUX)) firstVerb = at;
    if (/^[,;:()—–]$/.test(token.text)) clauseNumber++;
    clause[at] = clauseNumber;
    if (matched[at] === 1) clauseMatches[clauseNumber] = (clauseMatches[clauseNumber] ?? 0) + 1;
    if (heading.has(token.lower)) inHeading[at] = 1;
    if (token.text === '(') depth = 1;
    quoteDepth[at] = depth;
    focusLikeness[at] = Math.round(6 * rowSimilarity(asked.focusRow, token.row));
    verbLikeness[at] =
      asked.verb !== '' && token.stem === asked.verb
        ? 9
        : Math.round(5 * rowSimilarity(asked.verbRow, token.row));
    if (token.text === ')') depth = 0;
  }
  let match = -1;
  let verb = -1;
  for (let at = 0; at < size; at++) {
    leftMatch[at] = match;
    leftVerb[at] = verb;
    if (matched[at] === 1) match = at;
    if (tokens[at]?.tag === VERB) verb = at;
  }
  match = -1;
  verb = -1;
  for (let at = size - 1; at >= 0; at--) {
    rightMatch[at] = match;
    rightVerb[at] = verb;
    if (matched[at] === 1) match = at;
    if (tokens[at]?.tag === VERB) verb = at;
  }
  return {
    tokens,
    matched,
    matchedBefore,
    leftMatch,
    rightMatch,
    leftVerb,
    rightVerb,
    verbAt,
    focusAt,
    firstVerb,
    quoteDepth,
    clause,
    clauseMatches,
    inHeading,
    focusLikeness,
    verbLikeness,
    rank: place.rank,
    scoreBucket: Math.max(-20, Math.min(0, Math.round((place.score - place.bestScore) / 50))) + 100,
    coverBucket: Math.round((5 * covered.size) / Math.max(1, asked.termCount)),
  };
}

const DISTANCE_BUCKETS = [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8];
function bucket(distance: number): number {
  return distance < 0 ? 11 : (DISTANCE_BUCKETS[distance] ?? (distance < 25 ? 9 : 10));
}

/** Fills `sink` with the features of tokens from..to. */
export function spanFeatures(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  sink.count = 0;
  sink.shape = spanShape(facts.tokens, from, to);
  sink.head = headOf(facts.tokens, from, to);
  addShapes(asked, facts, from, to, sink);
  sink.ends[0] = sink.count;
  addNeighbours(asked, facts, from, to, sink);
  sink.ends[1] = sink.count;
  addMatches(asked, facts, from, to, sink);
  sink.ends[2] = sink.count;
}

function add(sink: FeatureSink, left: number, right: number): void {
  sink.ids[sink.count++] = mix(left, right) >>> HASH_SHIFT;
}

function addShapes(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  const { tokens } = facts;
  const head = tokens[sink.head];
  const first = tokens[from];
  const last = tokens[to];
  if (head === undefined || first === undefined || last === undefined) return;
  const shape = mix(sink.shape, 101);
  const path = mix(tagPath(tokens, from, to, 5), 102);
  const length = mix(Math.min(to - from, 9), 103);
  const headFine = mix(head.fine + 1, head.capital ? 105 : 104);
  const headCoarse = mix(head.coarse + 1, head.capital ? 107 : 106);
  const firstFine = mix(first.fine + 1, first.capital ? 109 : 108);
  for (const ask of asked.asks) {
    add(sink, ask, shape);
    add(sink, ask, path);
    add(sink, ask, length);
    add(sink, ask, headFine);
    add(sink, ask, headCoarse);
    add(sink, ask, firstFine);
    add(sink, ask, mix(first.lowerHash, 110));
    add(sink, ask, mix(last.lowerHash, 111));
    add(sink, ask, mix(head.stemHash, 112));
  }
  for (const word of asked.bag) {
    add(sink, mix(word, 113), shape);
    add(sink, mix(word, 114), headFine);
  }
  add(sink, shape, path);
  add(sink, shape, headFine);
}

function addNeighbours(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  const { tokens } = facts;
  const before = tokens[from - 1];
  const before2 = tokens[from - 2];
  const after = tokens[to + 1];
  const after2 = tokens[to + 2];
  const first = tokens[from];
  const last = tokens[to];
  const kind = asked.kind;
  const focusAsk = asked.asks[1] ?? kind;
  const nextAsk = asked.asks[4] ?? kind;
  const fineAsk = asked.asks[2] ?? kind;
  const { shape } = sink;
  const beforeLower = mix(before?.lowerHash ?? 1, 201);
  const afterLower = mix(after?.lowerHash ?? 1, 202);
  const leftEdge = mix((before?.tag ?? 30) * 32 + (first?.tag ?? 30), 203);
  const rightEdge = mix((last?.tag ?? 30) * 32 + (after?.tag ?? 30), 204);
  const beforePair = mix(mix(beforeLower, before2?.lowerHash ?? 1), 205);
  add(sink, 7, leftEdge);
  add(sink, 7, rightEdge);
  add(sink, mix(leftEdge, rightEdge), to - from);
  add(sink, leftEdge, rightEdge);
  add(sink, 7, beforeLower);
  add(sink, 7, afterLower);
  add(sink, beforeLower, shape);
  add(sink, afterLower, shape);
  add(sink, beforeLower, leftEdge);
  add(sink, afterLower, rightEdge);
  for (const ask of [kind, focusAsk, nextAsk, fineAsk]) {
    add(sink, ask, beforeLower);
    add(sink, ask, afterLower);
    add(sink, ask, leftEdge);
    add(sink, ask, rightEdge);
    add(sink, ask, beforePair);
  }
  add(sink, kind, mix(mix(afterLower, after2?.lowerHash ?? 1), 206));
  add(sink, kind, mix(before?.fine ?? -2, 207));
  add(sink, kind, mix(after?.fine ?? -2, 208));
  add(sink, mix(kind, beforeLower), shape);
  add(sink, mix(kind, afterLower), shape);
  add(sink, mix(kind, mix(before2?.tag ?? 30, before?.tag ?? 30)), mix(first?.tag ?? 30, 209));
  add(sink, mix(kind, mix(after?.tag ?? 30, after2?.tag ?? 30)), mix(last?.tag ?? 30, 210));
  if (asked.preposition !== 0) {
    add(sink, asked.preposition, beforeLower);
    add(sink, 211, asked.preposition === before?.lowerHash ? 1 : 0);
    add(sink, mix(asked.preposition, 212), shape);
  }
  const edges =
    (facts.quoteDepth[from] ?? 0) * 2 +
    (/^["“]$/.test(before?.text ?? '') && /^["”]$/.test(after?.text ?? '') ? 1 : 0);
  add(sink, kind, mix(edges, 213));
  add(sink, mix(kind, shape), mix(edges, 214));
  const unfinished =
    (before?.capital && first?.capital && from > 1 ? 1 : 0) + (after?.capital && last?.capital ? 2 : 0);
  add(sink, kind, mix(unfinished, 215));
}

function addMatches(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  const { tokens, matchedBefore } = facts;
  const kind = asked.kind;
  const size = tokens.length;
  const inside = (matchedBefore[to + 1] ?? 0) - (matchedBefore[from] ?? 0);
  const left = facts.leftMatch[from] ?? -1;
  const right = facts.rightMatch[to] ?? -1;
  const leftDistance = bucket(left < 0 ? -1 : from - left);
  const rightDistance = bucket(right < 0 ? -1 : right - to);
  const { shape } = sink;
  const fineAsk = asked.asks[2] ?? kind;

  add(sink, kind, mix(Math.min(inside, 4) * 16 + Math.min(to - from, 8), 301));
  add(sink, 9, mix(Math.min(inside, 4) * 16 + Math.min(to - from, 8), 302));
  add(sink, kind, mix((facts.matched[from] ?? 0) * 2 + (facts.matched[to] ?? 0), 303));
  add(sink, kind, mix(leftDistance, 304));
  add(sink, kind, mix(rightDistance, 305));
  add(sink, kind, mix(leftDistance * 16 + rightDistance, 306));
  add(sink, 9, mix(leftDistance * 16 + rightDistance, 307));
  add(sink, 9, mix(Math.min(leftDistance, rightDistance), 308));
  add(sink, shape, mix(Math.min(leftDistance, rightDistance), 309));
  for (const width of [3, 6, 12]) {
    const around =
      (matchedBefore[Math.min(size, to + 1 + width)] ?? 0) -
      (matchedBefore[Math.max(0, from - width)] ?? 0) -
      inside;
    add(sink, 9, mix(Math.min(around, 7) * 16 + width, 310));
    add(sink, kind, mix(Math.min(around, 7) * 16 + width, 311));
    add(sink, 9, mix(Math.round((8 * around) / Math.max(1, asked.termCount)) * 16 + width, 329));
  }
  if (left >= 0) {
    const path = tagPath(tokens, left, from - 1, 5);
    add(sink, kind, mix(path, 312));
    add(sink, 9, mix(path, 313));
    add(sink, mix(kind, path), mix(shape, 314));
    add(sink, kind, mix(tokens[from - 1]?.lowerHash ?? 0, mix(leftDistance, 315)));
  }
  if (right >= 0) {
    const path = tagPath(tokens, to + 1, right, 5);
    add(sink, kind, mix(path, 316));
    add(sink, 9, mix(path, 317));
    add(sink, mix(kind, path), mix(shape, 318));
    add(sink, kind, mix(tokens[to + 1]?.lowerHash ?? 0, mix(rightDistance, 319)));
  }
  addVerbs(asked, facts, from, to, sink);
  addFocus(asked, facts, from, to, sink);
  addAlignment(asked, facts, from, to, sink);
  const focusSimilarity = facts.focusLikeness[sink.head] ?? 0;
  add(sink, 9, mix(focusSimilarity, 320));
  add(sink, kind, mix(focusSimilarity, 321));
  add(sink, 9, mix(facts.rank, 322));
  add(sink, 9, mix(facts.scoreBucket, 323));
  add(sink, kind, mix(facts.scoreBucket, 324));
  add(sink, kind, mix(facts.coverBucket, 325));
  add(sink, shape, mix(facts.scoreBucket, 326));
  add(sink, fineAsk, mix(inside > 0 ? 1 : 0, 327));
  add(sink, kind, mix(bucket(from), 328));
  const ownClause = Math.min(facts.clauseMatches[facts.clause[from] ?? 0] ?? 0, 5) - Math.min(inside, 4);
  add(sink, 9, mix(ownClause, 330));
  add(sink, kind, mix(ownClause, 331));
  const nextClause = Math.min(facts.clauseMatches[(facts.clause[to] ?? 0) + 1] ?? 0, 5);
  const lastClause = Math.min(facts.clauseMatches[(facts.clause[from] ?? 0) - 1] ?? 0, 5);
  add(sink, kind, mix(nextClause * 8 + lastClause, 332));
  const titled = (facts.inHeading[from] ?? 0) * 2 + (facts.inHeading[to] ?? 0);
  add(sink, kind, mix(titled, 333));
  add(sink, asked.asks[4] ?? kind, mix(titled, 334));
  const nearest = left >= 0 && (right < 0 || from - left <= right - to) ? left : right;
  const neighbour = tokens[nearest];
  if (neighbour !== undefined) {
    const where = nearest === left ? 0 : 1;
    add(sink, kind, mix(neighbour.tag * 2 + where, 335));
    add(sink, mix(kind, shape), mix(neighbour.tag * 2 + where, 336));
    add(sink, kind, mix(mix(neighbour.stemHash, where), 337));
    add(sink, neighbour.stemHash, mix(mix(shape, where), 338));
    add(sink, kind, mix(mix(neighbour.fine, where), 339));
  }
  const byVerb = facts.verbAt < 0 ? 0 : facts.verbAt < from ? 1 : 2;
  add(sink, mix(kind, byVerb), mix(tokens[from - 1]?.lowerHash ?? 0, 340));
}

/** Where the span stands to the verbs: subject or object of which one, and is that the question's? */
function addVerbs(asked: AskedView, facts: SentenceFacts, from: number, to: number, sink: FeatureSink): void {
  const { tokens } = facts;
  const verbAsk = asked.asks[5] ?? asked.kind;
  const leftVerb = facts.leftVerb[from] ?? -1;
  const rightVerb = facts.rightVerb[to] ?? -1;
  for (const [side, at] of [leftVerb, rightVerb].entries()) {
    const verb = tokens[at];
    if (verb === undefined) continue;
    const distance = bucket(side === 0 ? from - at : at - to);
    add(sink, mix(asked.kind, verb.fine + 1), mix(side, 401));
    add(sink, mix(verbAsk, verb.fine + 1), mix(side, 402));
    const same = facts.verbLikeness[at] ?? 0;
    add(sink, mix(asked.kind, same), mix(side, 403));
    add(sink, mix(asked.kind, same), mix(side * 16 + distance, 404));
    add(sink, mix(9, same), mix(side * 16 + distance, 405));
  }
  const side = facts.verbAt < 0 ? 0 : facts.verbAt < from ? 1 : facts.verbAt > to ? 2 : 3;
  const distance = side === 1 ? from - facts.verbAt : side === 2 ? facts.verbAt - to : 0;
  add(sink, asked.kind, mix(side * 16 + bucket(distance), 406));
  add(sink, asked.asks[4] ?? 0, mix(side, 407));
  const main = facts.firstVerb < 0 ? 0 : to < facts.firstVerb ? 1 : from > facts.firstVerb ? 2 : 3;
  add(sink, asked.kind, mix(main, 408));
  add(sink, asked.asks[4] ?? 0, mix(main, 409));
  add(sink, asked.asks[1] ?? 0, mix(main, 410));
}

/** "What team": is the span beside the word "team", does it hold it? */
function addFocus(asked: AskedView, facts: SentenceFacts, from: number, to: number, sink: FeatureSink): void {
  if (asked.focus === '') return;
  const at = facts.focusAt;
  const where =
    at < 0
      ? 0
      : at === to + 1
        ? 1
        : at === from - 1
          ? 2
          : at === to
            ? 3
            : at >= from && at <= to
              ? 4
              : at < from
                ? 5
                : 6;
  const distance = at < 0 ? 0 : at < from ? from - at : at > to ? at - to : 0;
  const { shape } = sink;
  add(sink, 9, mix(where, 501));
  add(sink, asked.kind, mix(where, 502));
  add(sink, asked.asks[1] ?? 0, mix(where, 503));
  add(sink, shape, mix(where, 504));
  add(sink, asked.kind, mix(where * 16 + bucket(distance), 505));
}

/** The question read as a statement with the span in the place of its question word. */
function addAlignment(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  const { tokens } = facts;
  for (const [index, stem] of asked.afterWh.entries()) {
    let right = 0;
    let left = 0;
    for (let step = 1; step <= 4; step++) {
      if (right === 0 && tokens[to + step]?.stem === stem) right = step;
      if (left === 0 && tokens[from - step]?.stem === stem) left = step;
    }
    add(sink, asked.kind, mix(index * 64 + right * 8 + left, 601));
    add(sink, asked.asks[4] ?? 0, mix(index * 64 + right * 8 + left, 602));
  }
  let lastLeft = 0;
  let lastRight = 0;
  for (let step = 1; step <= 4; step++) {
    if (lastLeft === 0 && tokens[from - step]?.stem === asked.last) lastLeft = step;
    if (lastRight === 0 && tokens[to + step]?.stem === asked.last) lastRight = step;
  }
  add(sink, asked.kind, mix(lastLeft * 8 + lastRight, 603));
  add(sink, asked.asks[4] ?? 0, mix(lastLeft * 8 + lastRight, 604));
}
