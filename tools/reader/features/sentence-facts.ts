import type { AskedView } from '../language/asked-view.ts';
import type { Token } from '../language/tag-words.ts';
import { compareRows } from '../language/vectors.ts';
import { splitWords } from '../language/words.ts';
import { hashTagPath, PATH_TAGS, toTagNumber } from './span-shapes.ts';

/** Facts about one sentence that its features need, computed once per question. */
export type SentenceFacts = {
  tokens: readonly Token[];
  matched: Uint8Array;
  /** Number of matched tokens before each position, so that a window's count is one subtraction. */
  matchedBefore: Uint16Array;
  leftMatch: Int16Array;
  rightMatch: Int16Array;
  leftVerb: Int16Array;
  rightVerb: Int16Array;
  verbAt: number;
  focusAt: number;
  firstVerb: number;
  /**
   * Hash of the tags between the nearest match and each position, without the match: for a span that begins there, and
   * for one that ends there.
   */
  leftPath: Int32Array;
  rightPath: Int32Array;
  quoteDepth: Uint8Array;
  /** 1 when a quotation mark stands directly before or behind a position. */
  quoteBefore: Uint8Array;
  quoteBehind: Uint8Array;
  /** 2 when a name at this edge of a span continues beyond it, 1 when it may, 0 when not. */
  goesOnBefore: Uint8Array;
  goesOnBehind: Uint8Array;
  /** Distances to the question's first words after its question word, and to its last topic word. */
  askedWords: WordDistances[];
  lastWord: WordDistances;
  /** Number of the clause of each token, and the number of topic words in each clause. */
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

/** Distance in tokens from each position back to the word (`before`) and on to it (`behind`): 1 to 4, or 0 for none. */
type WordDistances = { before: Uint8Array; behind: Uint8Array };

type SentencePosition = { rank: number; score: number; bestScore: number; heading: string | undefined };

const VERB = toTagNumber('VERB');
const AUX = toTagNumber('AUX');
const CLAUSE_ENDS = new Set([',', ';', ':', '(', ')', '—', '–']);
const OPENING_QUOTES = new Set(['"', '“']);
const CLOSING_QUOTES = new Set(['"', '”']);
const NAME_LINKS = new Set(['of', 'the', 'and', '&', '-', '–', "'s", 'de', 'for']);
const WORD_REACH = 4;

export function viewSentence(
  tokens: readonly Token[],
  asked: AskedView,
  position: SentencePosition,
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
  const heading = new Set(splitWords(position.heading ?? '').map((word) => word.lower));
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
    if (CLAUSE_ENDS.has(token.text)) clauseNumber++;
    clause[at] = clauseNumber;
    if (matched[at] === 1) clauseMatches[clauseNumber] = (clauseMatches[clauseNumber] ?? 0) + 1;
    if (heading.has(token.lower)) inHeading[at] = 1;
    if (token.text === '(') depth = 1;
    quoteDepth[at] = depth;
    focusLikeness[at] = Math.round(6 * compareRows(asked.focusRow, token.row));
    verbLikeness[at] =
      asked.verb !== '' && token.stem === asked.verb
        ? 9
        : Math.round(5 * compareRows(asked.verbRow, token.row));
    if (token.text === ')') depth = 0;
  }
  const leftMatch = findNearest(size, 1, (at) => matched[at] === 1);
  const rightMatch = findNearest(size, -1, (at) => matched[at] === 1);
  const leftPath = new Int32Array(size);
  const rightPath = new Int32Array(size);
  const quoteBefore = new Uint8Array(size);
  const quoteBehind = new Uint8Array(size);
  const goesOnBefore = new Uint8Array(size);
  const goesOnBehind = new Uint8Array(size);
  for (const [at, token] of tokens.entries()) {
    const left = leftMatch[at] ?? -1;
    const right = rightMatch[at] ?? -1;
    if (left >= 0) leftPath[at] = hashTagPath(tokens, left, at - 1, PATH_TAGS);
    if (right >= 0) rightPath[at] = hashTagPath(tokens, at + 1, right, PATH_TAGS);
    const before = tokens[at - 1];
    const after = tokens[at + 1];
    if (before !== undefined && OPENING_QUOTES.has(before.text)) quoteBefore[at] = 1;
    if (after !== undefined && CLOSING_QUOTES.has(after.text)) quoteBehind[at] = 1;
    goesOnBefore[at] = classifyNameEdge(token, before, tokens[at - 2]);
    goesOnBehind[at] = classifyNameEdge(token, after, tokens[at + 2]);
  }
  return {
    tokens,
    matched,
    matchedBefore,
    leftMatch,
    rightMatch,
    leftPath,
    rightPath,
    leftVerb: findNearest(size, 1, (at) => tokens[at]?.tag === VERB),
    rightVerb: findNearest(size, -1, (at) => tokens[at]?.tag === VERB),
    verbAt,
    focusAt,
    firstVerb,
    quoteDepth,
    quoteBefore,
    quoteBehind,
    goesOnBefore,
    goesOnBehind,
    askedWords: asked.afterWh.map((stem) => measureWordDistances(tokens, stem)),
    lastWord: measureWordDistances(tokens, asked.last),
    clause,
    clauseMatches,
    inHeading,
    focusLikeness,
    verbLikeness,
    rank: position.rank,
    scoreBucket: Math.max(-20, Math.min(0, Math.round((position.score - position.bestScore) / 50))) + 100,
    coverBucket: Math.round((5 * covered.size) / Math.max(1, asked.termCount)),
  };
}

/** Returns for each position the nearest fitting one before it (step 1) or behind it (step -1); -1 for none. */
function findNearest(size: number, step: 1 | -1, fits: (at: number) => boolean): Int16Array {
  const places = new Int16Array(size);
  let last = -1;
  for (let at = step === 1 ? 0 : size - 1; at >= 0 && at < size; at += step) {
    places[at] = last;
    if (fits(at)) last = at;
  }
  return places;
}

/** Returns 2 when the name at the span's edge continues beyond it, 1 when it may ("Edge of | Night"), 0 when not. */
function classifyNameEdge(edge: Token, next: Token | undefined, second: Token | undefined): number {
  if (next === undefined || !(edge.capital || edge.digit)) return 0;
  if (next.capital) return 2;
  return NAME_LINKS.has(next.lower) && second?.capital === true ? 1 : 0;
}

function measureWordDistances(tokens: readonly Token[], stem: string): WordDistances {
  const before = new Uint8Array(tokens.length);
  const behind = new Uint8Array(tokens.length);
  for (const [place, token] of tokens.entries()) {
    if (token.stem !== stem) continue;
    // Overwrites earlier values behind the word, where a later occurrence is nearer, and keeps those before it.
    for (let step = 1; step <= WORD_REACH; step++) {
      if (place + step < before.length) before[place + step] = step;
      if (behind[place - step] === 0) behind[place - step] = step;
    }
  }
  return { before, behind };
}
