import { mix } from '../hash.ts';
import type { AskedView } from '../language/asked-view.ts';
import { addFeature, BESIDE, bucketDistance, type FeatureSink, MATCH, ORDER } from './feature-sink.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import { classifySpan, findHead, hashTagPath, PATH_TAGS } from './span-shapes.ts';

// Many traits of a span take few values, such as the number of the question's words in it. Each value is a case, a
// small number: its features depend on the question alone, so that their weights are added up once per question.

/** Widths of the windows on each side of a span in which the question's words are counted, in words. */
const WIDTHS = [3, 6, 12] as const;

// First case of each kind; the view of a span has the number within it.
const EDGES = 0;
const GOES_ON = EDGES + 4;
const INSIDE = GOES_ON + 9;
const MATCHED = INSIDE + 5 * 9;
const DISTANCES = MATCHED + 4;
const AROUND = DISTANCES + 12 * 12;
const OWN_CLAUSE = AROUND + 3 * 25;
const BESIDE_CLAUSES = OWN_CLAUSE + 10;
const TITLED = BESIDE_CLAUSES + 6 * 8;
const VERB_PLACE = TITLED + 4;
const MAIN_VERB = VERB_PLACE + 4 * 16;
const FOCUS_PLACE = MAIN_VERB + 4;
const ASKED_WORDS = FOCUS_PLACE + 7 * 16;
const LAST_WORD = ASKED_WORDS + 2 * 64;
const NO_CASE = LAST_WORD + 64;
export const CASES = NO_CASE + 1;

/**
 * Number of cases of a span, one of each kind (some kinds have two or three): first those of group BESIDE, then MATCH,
 * then ORDER.
 */
export const CASES_OF_SPAN = 17;
export const FIRST_MATCH_CASE = 2;
export const FIRST_ORDER_CASE = 11;

export function addCase(asked: AskedView, number: number, sink: FeatureSink): void {
  if (number < INSIDE) addEdges(asked, number, sink);
  else if (number < OWN_CLAUSE) addMatches(asked, number, sink);
  else if (number < VERB_PLACE) addClauses(asked, number, sink);
  else addPlaces(asked, number, sink);
}

/** Adds features that tell whether the span is cut where a name or a phrase ends. */
function addEdges({ kind }: AskedView, number: number, sink: FeatureSink): void {
  if (number < GOES_ON) {
    addFeature(sink, BESIDE, kind, mix(number - EDGES, 213));
    return;
  }
  const goesOn = mix(number - GOES_ON, 215);
  addFeature(sink, BESIDE, 9, goesOn);
  addFeature(sink, BESIDE, kind, goesOn);
}

/** Adds the number of the question's words in and around the span, and their distances. */
function addMatches(asked: AskedView, number: number, sink: FeatureSink): void {
  const { kind } = asked;
  if (number < MATCHED) {
    const inside = Math.floor((number - INSIDE) / 9);
    const sizes = inside * 16 + ((number - INSIDE) % 9);
    addFeature(sink, MATCH, kind, mix(sizes, 301));
    addFeature(sink, MATCH, 9, mix(sizes, 302));
    addFeature(sink, MATCH, asked.askedFine, mix(inside > 0 ? 1 : 0, 327));
  } else if (number < DISTANCES) {
    addFeature(sink, MATCH, kind, mix(number - MATCHED, 303));
  } else if (number < AROUND) {
    const left = Math.floor((number - DISTANCES) / 12);
    const right = (number - DISTANCES) % 12;
    addFeature(sink, MATCH, kind, mix(left * 16 + right, 306));
    addFeature(sink, MATCH, 9, mix(left * 16 + right, 307));
    addFeature(sink, MATCH, 9, mix(Math.min(left, right), 308));
  } else {
    const width = WIDTHS[Math.floor((number - AROUND) / 25)] ?? 0;
    const around = (number - AROUND) % 25;
    const few = Math.min(around, 7) * 16 + width;
    const share = Math.round((8 * around) / Math.max(1, asked.termCount)) * 16 + width;
    addFeature(sink, MATCH, 9, mix(few, 310));
    addFeature(sink, MATCH, kind, mix(few, 311));
    addFeature(sink, MATCH, 9, mix(share, 329));
  }
}

/**
 * Adds the number of the question's words in the span's clause and in those beside it, and whether the title names the
 * span.
 */
function addClauses({ kind, askedNext }: AskedView, number: number, sink: FeatureSink): void {
  if (number < BESIDE_CLAUSES) {
    const own = number - OWN_CLAUSE - 4;
    addFeature(sink, MATCH, 9, mix(own, 330));
    addFeature(sink, MATCH, kind, mix(own, 331));
  } else if (number < TITLED) {
    addFeature(sink, MATCH, kind, mix(number - BESIDE_CLAUSES, 332));
  } else {
    addFeature(sink, MATCH, kind, mix(number - TITLED, 333));
    addFeature(sink, MATCH, askedNext, mix(number - TITLED, 334));
  }
}

/** Adds the position of the span relative to the question's verb, focus and neighbouring words. */
function addPlaces({ kind, askedNext, askedFocus }: AskedView, number: number, sink: FeatureSink): void {
  if (number < MAIN_VERB) {
    const place = number - VERB_PLACE;
    addFeature(sink, ORDER, kind, mix(place, 406));
    addFeature(sink, ORDER, askedNext, mix(place >> 4, 407));
  } else if (number < FOCUS_PLACE) {
    const place = number - MAIN_VERB;
    addFeature(sink, ORDER, kind, mix(place, 408));
    addFeature(sink, ORDER, askedNext, mix(place, 409));
    addFeature(sink, ORDER, askedFocus, mix(place, 410));
  } else if (number < ASKED_WORDS) {
    const place = (number - FOCUS_PLACE) >> 4;
    addFeature(sink, ORDER, 9, mix(place, 501));
    addFeature(sink, ORDER, kind, mix(place, 502));
    addFeature(sink, ORDER, askedFocus, mix(place, 503));
    addFeature(sink, ORDER, kind, mix(number - FOCUS_PLACE, 505));
  } else if (number < LAST_WORD) {
    addFeature(sink, ORDER, kind, mix(number - ASKED_WORDS, 601));
    addFeature(sink, ORDER, askedNext, mix(number - ASKED_WORDS, 602));
  } else if (number < NO_CASE) {
    addFeature(sink, ORDER, kind, mix(number - LAST_WORD, 603));
    addFeature(sink, ORDER, askedNext, mix(number - LAST_WORD, 604));
  }
}

/** Traits of one span. */
export type SpanView = {
  from: number;
  to: number;
  /** Index of the token that says what the span is. */
  head: number;
  /** Hashes of its look and of its part-of-speech tags. */
  shape: number;
  path: number;
  /** 1 between quotation marks, 2 in brackets, 3 in both. */
  edges: number;
  goesOn: number;
  /**
   * Bucket of the distance to the nearest of the question's words; `near` is twice that word's index, plus 1 when it
   * stands behind the span, or -1.
   */
  distance: number;
  near: number;
  focusPlace: number;
  cases: Int32Array;
};

export function createSpanView(): SpanView {
  return {
    from: 0,
    to: 0,
    head: 0,
    shape: 0,
    path: 0,
    edges: 0,
    goesOn: 0,
    distance: 0,
    near: -1,
    focusPlace: 0,
    cases: new Int32Array(CASES_OF_SPAN),
  };
}

/** Reads tokens from..to into `view`. */
export function viewSpan(
  view: SpanView,
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
): void {
  const { tokens } = facts;
  view.from = from;
  view.to = to;
  view.head = findHead(tokens, from, to);
  view.shape = classifySpan(tokens, from, to);
  view.path = hashTagPath(tokens, from, to, PATH_TAGS);
  view.edges =
    (facts.quoteDepth[from] ?? 0) * 2 + (facts.quoteBefore[from] ?? 0) * (facts.quoteBehind[to] ?? 0);
  view.goesOn = (facts.goesOnBefore[from] ?? 0) * 3 + (facts.goesOnBehind[to] ?? 0);
  view.cases[0] = EDGES + view.edges;
  view.cases[1] = GOES_ON + view.goesOn;
  placeMatches(view, facts);
  placeVerbs(view, facts);
  placeFocus(view, asked, facts);
  placeWords(view, facts);
}

function placeMatches(view: SpanView, facts: SentenceFacts): void {
  const { cases, from, to } = view;
  const { matched, matchedBefore, clause, clauseMatches, inHeading } = facts;
  const size = facts.tokens.length;
  const inside = (matchedBefore[to + 1] ?? 0) - (matchedBefore[from] ?? 0);
  const left = facts.leftMatch[from] ?? -1;
  const right = facts.rightMatch[to] ?? -1;
  const leftDistance = bucketDistance(left < 0 ? -1 : from - left);
  const rightDistance = bucketDistance(right < 0 ? -1 : right - to);
  view.distance = Math.min(leftDistance, rightDistance);
  if (left >= 0 && (right < 0 || from - left <= right - to)) view.near = 2 * left;
  else view.near = right < 0 ? -1 : 2 * right + 1;

  cases[2] = INSIDE + Math.min(inside, 4) * 9 + Math.min(to - from, 8);
  cases[3] = MATCHED + (matched[from] ?? 0) * 2 + (matched[to] ?? 0);
  cases[4] = DISTANCES + leftDistance * 12 + rightDistance;
  for (let at = 0; at < WIDTHS.length; at++) {
    const width = WIDTHS[at] ?? 0;
    const end = matchedBefore[Math.min(size, to + 1 + width)] ?? 0;
    const start = matchedBefore[Math.max(0, from - width)] ?? 0;
    cases[5 + at] = AROUND + at * 25 + end - start - inside;
  }
  const own = Math.min(clauseMatches[clause[from] ?? 0] ?? 0, 5) - Math.min(inside, 4);
  cases[8] = OWN_CLAUSE + own + 4;
  const next = Math.min(clauseMatches[(clause[to] ?? 0) + 1] ?? 0, 5);
  const last = Math.min(clauseMatches[(clause[from] ?? 0) - 1] ?? 0, 5);
  cases[9] = BESIDE_CLAUSES + next * 8 + last;
  cases[10] = TITLED + (inHeading[from] ?? 0) * 2 + (inHeading[to] ?? 0);
}

/** Sets whether the question's verb and the sentence's first verb stand before, behind or in the span. */
function placeVerbs({ cases, from, to }: SpanView, { verbAt, firstVerb }: SentenceFacts): void {
  const side = verbAt < 0 ? 0 : verbAt < from ? 1 : verbAt > to ? 2 : 3;
  const distance = side === 1 ? from - verbAt : side === 2 ? verbAt - to : 0;
  cases[11] = VERB_PLACE + side * 16 + bucketDistance(distance);
  cases[12] = MAIN_VERB + (firstVerb < 0 ? 0 : to < firstVerb ? 1 : from > firstVerb ? 2 : 3);
}

/** Sets the position relative to the focus: for "What team", whether the span holds or touches the word "team". */
function placeFocus(view: SpanView, asked: AskedView, { focusAt }: SentenceFacts): void {
  const { from, to } = view;
  view.cases[13] = NO_CASE;
  if (asked.focus === '') return;
  view.focusPlace = classifyPlace(focusAt, from, to);
  const distance = focusAt < 0 ? 0 : focusAt < from ? from - focusAt : focusAt > to ? focusAt - to : 0;
  view.cases[13] = FOCUS_PLACE + view.focusPlace * 16 + bucketDistance(distance);
}

function classifyPlace(at: number, from: number, to: number): number {
  if (at < 0) return 0;
  if (at === to + 1) return 1;
  if (at === from - 1) return 2;
  if (at === to) return 3;
  if (at >= from && at <= to) return 4;
  return at < from ? 5 : 6;
}

/**
 * Reads the question as a statement with the span in place of its question word, and measures how near the words stand
 * that should then follow it.
 */
function placeWords({ cases, from, to }: SpanView, { askedWords, lastWord }: SentenceFacts): void {
  for (let index = 0; index < 2; index++) {
    const word = askedWords[index];
    cases[14 + index] =
      word === undefined
        ? NO_CASE
        : ASKED_WORDS + index * 64 + (word.behind[to] ?? 0) * 8 + (word.before[from] ?? 0);
  }
  cases[16] = LAST_WORD + (lastWord.before[from] ?? 0) * 8 + (lastWord.behind[to] ?? 0);
}
