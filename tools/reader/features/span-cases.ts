// Many traits of a span take few values, such as the number of the question's words in it. Each value is a case, a
// small number: its features depend on the question alone, so that their weights are added up once per question.

import { mix } from '../hash.ts';
import type { AskedView } from '../language/asked-view.ts';
import { addFeature, BESIDE, type FeatureSink, MATCH, ORDER } from './feature-sink.ts';

/** Widths of the windows on each side of a span in which the question's words are counted, in words. */
export const WIDTHS = [3, 6, 12] as const;

// First case of each kind; span-view.ts computes the number within a kind.
export const EDGES = 0;
export const GOES_ON = EDGES + 4;
export const INSIDE = GOES_ON + 9;
export const MATCHED = INSIDE + 5 * 9;
export const DISTANCES = MATCHED + 4;
export const AROUND = DISTANCES + 12 * 12;
export const OWN_CLAUSE = AROUND + 3 * 25;
export const BESIDE_CLAUSES = OWN_CLAUSE + 10;
export const TITLED = BESIDE_CLAUSES + 6 * 8;
export const VERB_PLACE = TITLED + 4;
export const MAIN_VERB = VERB_PLACE + 4 * 16;
export const FOCUS_PLACE = MAIN_VERB + 4;
export const ASKED_WORDS = FOCUS_PLACE + 7 * 16;
export const LAST_WORD = ASKED_WORDS + 2 * 64;
export const NO_CASE = LAST_WORD + 64;
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
