import type { AskedView } from '../language/asked-view.ts';
import { bucketDistance } from './feature-sink.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import {
  AROUND,
  ASKED_WORDS,
  BESIDE_CLAUSES,
  CASES_OF_SPAN,
  DISTANCES,
  EDGES,
  FOCUS_PLACE,
  GOES_ON,
  INSIDE,
  LAST_WORD,
  MAIN_VERB,
  MATCHED,
  NO_CASE,
  OWN_CLAUSE,
  TITLED,
  VERB_PLACE,
  WIDTHS,
} from './span-cases.ts';
import { classifySpan, findHead, hashTagPath, PATH_TAGS } from './span-shapes.ts';

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
