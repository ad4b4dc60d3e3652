// Features that relate a candidate span to the question's words; numbered from 301 on, see span-scorer.ts.

import { mix } from '../hash.ts';
import type { AskedView } from '../language/asked-view.ts';
import { addFeature, bucketDistance, type FeatureSink, MATCH, ORDER } from './feature-sink.ts';
import type { SentenceFacts } from './sentence-facts.ts';

/** Adds the question's words and the verbs before the span. */
export function addLeftMatches(
  asked: AskedView,
  facts: SentenceFacts,
  from: number,
  sink: FeatureSink,
): void {
  const { tokens, verbAt } = facts;
  const { kind } = asked;
  const match = facts.leftMatch[from] ?? -1;
  const distance = bucketDistance(match < 0 ? -1 : from - match);
  const before = tokens[from - 1]?.lowerHash ?? 0;
  addFeature(sink, MATCH, kind, mix(distance, 304));
  if (match >= 0) {
    const path = facts.leftPath[from] ?? 0;
    addFeature(sink, MATCH, kind, mix(path, 312));
    addFeature(sink, MATCH, 9, mix(path, 313));
    addFeature(sink, MATCH, kind, mix(before, mix(distance, 315)));
  }
  addFeature(sink, MATCH, kind, mix(bucketDistance(from), 328));
  const byVerb = verbAt < 0 ? 0 : verbAt < from ? 1 : 2;
  addFeature(sink, MATCH, mix(kind, byVerb), mix(before, 340));
  const verb = facts.leftVerb[from] ?? -1;
  addVerb(asked, facts, verb, 0, from - verb, sink);
}

/** Adds the question's words and the verbs behind the span. */
export function addRightMatches(asked: AskedView, facts: SentenceFacts, to: number, sink: FeatureSink): void {
  const { tokens } = facts;
  const { kind } = asked;
  const match = facts.rightMatch[to] ?? -1;
  const distance = bucketDistance(match < 0 ? -1 : match - to);
  addFeature(sink, MATCH, kind, mix(distance, 305));
  if (match >= 0) {
    const path = facts.rightPath[to] ?? 0;
    addFeature(sink, MATCH, kind, mix(path, 316));
    addFeature(sink, MATCH, 9, mix(path, 317));
    addFeature(sink, MATCH, kind, mix(tokens[to + 1]?.lowerHash ?? 0, mix(distance, 319)));
  }
  const verb = facts.rightVerb[to] ?? -1;
  addVerb(asked, facts, verb, 1, verb - to, sink);
}

/** Adds the verb that the span stands beside, as its subject or its object, and its likeness to the question's verb. */
function addVerb(
  { kind, askedVerb }: AskedView,
  facts: SentenceFacts,
  at: number,
  side: 0 | 1,
  distance: number,
  sink: FeatureSink,
): void {
  const verb = facts.tokens[at];
  if (verb === undefined) return;
  const likeness = facts.verbLikeness[at] ?? 0;
  const place = side * 16 + bucketDistance(distance);
  addFeature(sink, ORDER, mix(kind, verb.fine + 1), mix(side, 401));
  addFeature(sink, ORDER, mix(askedVerb, verb.fine + 1), mix(side, 402));
  addFeature(sink, ORDER, mix(kind, likeness), mix(side, 403));
  addFeature(sink, ORDER, mix(kind, likeness), mix(place, 404));
  addFeature(sink, ORDER, mix(9, likeness), mix(place, 405));
}

/** Adds the likeness of the span's head to the class that the question asks for. */
export function addHeadMatches(
  { kind }: AskedView,
  facts: SentenceFacts,
  head: number,
  sink: FeatureSink,
): void {
  const likeness = facts.focusLikeness[head] ?? 0;
  addFeature(sink, MATCH, 9, mix(likeness, 320));
  addFeature(sink, MATCH, kind, mix(likeness, 321));
}

/** Adds the question word that stands nearest to the span; `near` is encoded as in SpanView. */
export function addNearest({ kind }: AskedView, facts: SentenceFacts, near: number, sink: FeatureSink): void {
  const neighbour = facts.tokens[near >> 1];
  if (neighbour === undefined) return;
  const side = near & 1;
  addFeature(sink, MATCH, kind, mix(neighbour.tag * 2 + side, 335));
  addFeature(sink, MATCH, kind, mix(mix(neighbour.stemHash, side), 337));
  addFeature(sink, MATCH, kind, mix(mix(neighbour.fine, side), 339));
}
