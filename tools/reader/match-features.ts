// How a candidate span stands to the question's words; numbered from 301 on, see span-features.ts.
import type { AskedView } from './asked-view.ts';
import { addFeature, distanceBucket, type FeatureSink } from './feature-sink.ts';
import { mix } from './hash.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import { tagPath } from './span-shapes.ts';

/** How many of the question's words stand in and around the span, how near, and what lies between. */
export function addMatches(
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
  const leftDistance = distanceBucket(left < 0 ? -1 : from - left);
  const rightDistance = distanceBucket(right < 0 ? -1 : right - to);
  const { shape } = sink;
  const fineAsk = asked.askedFine;

  addFeature(sink, kind, mix(Math.min(inside, 4) * 16 + Math.min(to - from, 8), 301));
  addFeature(sink, 9, mix(Math.min(inside, 4) * 16 + Math.min(to - from, 8), 302));
  addFeature(sink, kind, mix((facts.matched[from] ?? 0) * 2 + (facts.matched[to] ?? 0), 303));
  addFeature(sink, kind, mix(leftDistance, 304));
  addFeature(sink, kind, mix(rightDistance, 305));
  addFeature(sink, kind, mix(leftDistance * 16 + rightDistance, 306));
  addFeature(sink, 9, mix(leftDistance * 16 + rightDistance, 307));
  addFeature(sink, 9, mix(Math.min(leftDistance, rightDistance), 308));
  addFeature(sink, shape, mix(Math.min(leftDistance, rightDistance), 309));
  for (const width of [3, 6, 12]) {
    const around =
      (matchedBefore[Math.min(size, to + 1 + width)] ?? 0) -
      (matchedBefore[Math.max(0, from - width)] ?? 0) -
      inside;
    addFeature(sink, 9, mix(Math.min(around, 7) * 16 + width, 310));
    addFeature(sink, kind, mix(Math.min(around, 7) * 16 + width, 311));
    addFeature(sink, 9, mix(Math.round((8 * around) / Math.max(1, asked.termCount)) * 16 + width, 329));
  }
  if (left >= 0) {
    const path = tagPath(tokens, left, from - 1, 5);
    addFeature(sink, kind, mix(path, 312));
    addFeature(sink, 9, mix(path, 313));
    addFeature(sink, mix(kind, path), mix(shape, 314));
    addFeature(sink, kind, mix(tokens[from - 1]?.lowerHash ?? 0, mix(leftDistance, 315)));
  }
  if (right >= 0) {
    const path = tagPath(tokens, to + 1, right, 5);
    addFeature(sink, kind, mix(path, 316));
    addFeature(sink, 9, mix(path, 317));
    addFeature(sink, mix(kind, path), mix(shape, 318));
    addFeature(sink, kind, mix(tokens[to + 1]?.lowerHash ?? 0, mix(rightDistance, 319)));
  }
  const focusSimilarity = facts.focusLikeness[sink.head] ?? 0;
  addFeature(sink, 9, mix(focusSimilarity, 320));
  addFeature(sink, kind, mix(focusSimilarity, 321));
  addFeature(sink, fineAsk, mix(inside > 0 ? 1 : 0, 327));
  addFeature(sink, kind, mix(distanceBucket(from), 328));
  const ownClause = Math.min(facts.clauseMatches[facts.clause[from] ?? 0] ?? 0, 5) - Math.min(inside, 4);
  addFeature(sink, 9, mix(ownClause, 330));
  addFeature(sink, kind, mix(ownClause, 331));
  const nextClause = Math.min(facts.clauseMatches[(facts.clause[to] ?? 0) + 1] ?? 0, 5);
  const lastClause = Math.min(facts.clauseMatches[(facts.clause[from] ?? 0) - 1] ?? 0, 5);
  addFeature(sink, kind, mix(nextClause * 8 + lastClause, 332));
  const titled = (facts.inHeading[from] ?? 0) * 2 + (facts.inHeading[to] ?? 0);
  addFeature(sink, kind, mix(titled, 333));
  addFeature(sink, asked.askedNext, mix(titled, 334));
  const nearest = left >= 0 && (right < 0 || from - left <= right - to) ? left : right;
  const neighbour = tokens[nearest];
  if (neighbour !== undefined) {
    const where = nearest === left ? 0 : 1;
    addFeature(sink, kind, mix(neighbour.tag * 2 + where, 335));
    addFeature(sink, mix(kind, shape), mix(neighbour.tag * 2 + where, 336));
    addFeature(sink, kind, mix(mix(neighbour.stemHash, where), 337));
    addFeature(sink, neighbour.stemHash, mix(mix(shape, where), 338));
    addFeature(sink, kind, mix(mix(neighbour.fine, where), 339));
  }
  const byVerb = facts.verbAt < 0 ? 0 : facts.verbAt < from ? 1 : 2;
  addFeature(sink, mix(kind, byVerb), mix(tokens[from - 1]?.lowerHash ?? 0, 340));
}

/** Where the span stands to the verbs: subject or object of which one, and is that the question's? */
export function addVerbs(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
  const { tokens } = facts;
  const verbAsk = asked.askedVerb;
  const leftVerb = facts.leftVerb[from] ?? -1;
  const rightVerb = facts.rightVerb[to] ?? -1;
  for (const [side, at] of [leftVerb, rightVerb].entries()) {
    const verb = tokens[at];
    if (verb === undefined) continue;
    const distance = distanceBucket(side === 0 ? from - at : at - to);
    addFeature(sink, mix(asked.kind, verb.fine + 1), mix(side, 401));
    addFeature(sink, mix(verbAsk, verb.fine + 1), mix(side, 402));
    const same = facts.verbLikeness[at] ?? 0;
    addFeature(sink, mix(asked.kind, same), mix(side, 403));
    addFeature(sink, mix(asked.kind, same), mix(side * 16 + distance, 404));
    addFeature(sink, mix(9, same), mix(side * 16 + distance, 405));
  }
  const side = facts.verbAt < 0 ? 0 : facts.verbAt < from ? 1 : facts.verbAt > to ? 2 : 3;
  const distance = side === 1 ? from - facts.verbAt : side === 2 ? facts.verbAt - to : 0;
  addFeature(sink, asked.kind, mix(side * 16 + distanceBucket(distance), 406));
  addFeature(sink, asked.askedNext, mix(side, 407));
  const main = facts.firstVerb < 0 ? 0 : to < facts.firstVerb ? 1 : from > facts.firstVerb ? 2 : 3;
  addFeature(sink, asked.kind, mix(main, 408));
  addFeature(sink, asked.askedNext, mix(main, 409));
  addFeature(sink, asked.askedFocus, mix(main, 410));
}

/** "What team": is the span beside the word "team", does it hold it? */
export function addFocus(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  to: number,
  sink: FeatureSink,
): void {
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
  addFeature(sink, 9, mix(where, 501));
  addFeature(sink, asked.kind, mix(where, 502));
  addFeature(sink, asked.askedFocus, mix(where, 503));
  addFeature(sink, shape, mix(where, 504));
  addFeature(sink, asked.kind, mix(where * 16 + distanceBucket(distance), 505));
}

/** The question read as a statement with the span in the place of its question word. */
export function addAlignment(
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
    addFeature(sink, asked.kind, mix(index * 64 + right * 8 + left, 601));
    addFeature(sink, asked.askedNext, mix(index * 64 + right * 8 + left, 602));
  }
  let lastLeft = 0;
  let lastRight = 0;
  for (let step = 1; step <= 4; step++) {
    if (lastLeft === 0 && tokens[from - step]?.stem === asked.last) lastLeft = step;
    if (lastRight === 0 && tokens[to + step]?.stem === asked.last) lastRight = step;
  }
  addFeature(sink, asked.kind, mix(lastLeft * 8 + lastRight, 603));
  addFeature(sink, asked.askedNext, mix(lastLeft * 8 + lastRight, 604));
}

/** How likely its sentence is. */
export function addSentence(asked: AskedView, facts: SentenceFacts, sink: FeatureSink): void {
  const { kind } = asked;
  const { shape } = sink;
  addFeature(sink, 9, mix(facts.rank, 322));
  addFeature(sink, 9, mix(facts.scoreBucket, 323));
  addFeature(sink, kind, mix(facts.scoreBucket, 324));
  addFeature(sink, kind, mix(facts.coverBucket, 325));
  addFeature(sink, shape, mix(facts.scoreBucket, 326));
}
