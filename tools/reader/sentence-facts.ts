import type { AskedView } from './asked-view.ts';
import { tagNumber } from './span-shapes.ts';
import type { Token } from './tag-words.ts';
import { rowSimilarity } from './vectors.ts';
import { splitWords } from './words.ts';

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
  return {
    tokens,
    matched,
    matchedBefore,
    leftMatch: nearest(size, 1, (at) => matched[at] === 1),
    rightMatch: nearest(size, -1, (at) => matched[at] === 1),
    leftVerb: nearest(size, 1, (at) => tokens[at]?.tag === VERB),
    rightVerb: nearest(size, -1, (at) => tokens[at]?.tag === VERB),
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

/** For each place the nearest one that fits before it (step 1) or behind it (step -1); -1 when there is none. */
function nearest(size: number, step: 1 | -1, fits: (at: number) => boolean): Int16Array {
  const places = new Int16Array(size);
  let last = -1;
  for (let at = step === 1 ? 0 : size - 1; at >= 0 && at < size; at += step) {
    places[at] = last;
    if (fits(at)) last = at;
  }
  return places;
}
