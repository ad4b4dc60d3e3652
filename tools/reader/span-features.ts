// The features of one candidate span, as hashed numbers: what is asked × what the span looks like, what stands
// around it, and how it stands to the question's words.
// The numbers from 101 on keep features apart that would hash alike. Changing one needs new weights.
import type { AskedView } from './asked-view.ts';
import { addFeature, type FeatureSink } from './feature-sink.ts';
import { mix } from './hash.ts';
import { addAlignment, addFocus, addMatches, addSentence, addVerbs } from './match-features.ts';
import type { SentenceFacts } from './sentence-facts.ts';
import { headOf, spanShape, tagPath } from './span-shapes.ts';
import type { Token } from './tag-words.ts';

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
  sink.ends[2] = sink.count;
  addNeighbours(asked, facts, from, to, sink);
  sink.ends[3] = sink.count;
  addMatches(asked, facts, from, to, sink);
  sink.ends[4] = sink.count;
  addVerbs(asked, facts, from, to, sink);
  addFocus(asked, facts, from, to, sink);
  addAlignment(asked, facts, from, to, sink);
  addSentence(asked, facts, sink);
  sink.ends[5] = sink.count;
}

/** What the span looks like, crossed with what is asked. */
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
  const cross = (ask: number): void => {
    addFeature(sink, ask, shape);
    addFeature(sink, ask, path);
    addFeature(sink, ask, length);
    addFeature(sink, ask, headFine);
    addFeature(sink, ask, headCoarse);
    addFeature(sink, ask, firstFine);
    addFeature(sink, ask, mix(first.lowerHash, 110));
    addFeature(sink, ask, mix(last.lowerHash, 111));
    addFeature(sink, ask, mix(head.stemHash, 112));
  };
  asked.plainAsks.forEach(cross);
  sink.ends[0] = sink.count;
  asked.focusAsks.forEach(cross);
  sink.ends[1] = sink.count;
  for (const word of asked.bag) {
    addFeature(sink, mix(word, 113), shape);
    addFeature(sink, mix(word, 114), headFine);
  }
  addFeature(sink, shape, path);
  addFeature(sink, shape, headFine);
}

/** What stands beside the span and whether it is cut where a name or a phrase ends. */
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
  const focusAsk = asked.askedFocus;
  const nextAsk = asked.askedNext;
  const fineAsk = asked.askedFine;
  const { shape } = sink;
  const beforeLower = mix(before?.lowerHash ?? 1, 201);
  const afterLower = mix(after?.lowerHash ?? 1, 202);
  const leftEdge = mix((before?.tag ?? 30) * 32 + (first?.tag ?? 30), 203);
  const rightEdge = mix((last?.tag ?? 30) * 32 + (after?.tag ?? 30), 204);
  const beforePair = mix(mix(beforeLower, before2?.lowerHash ?? 1), 205);
  addFeature(sink, 7, leftEdge);
  addFeature(sink, 7, rightEdge);
  addFeature(sink, mix(leftEdge, rightEdge), to - from);
  addFeature(sink, leftEdge, rightEdge);
  addFeature(sink, 7, beforeLower);
  addFeature(sink, 7, afterLower);
  addFeature(sink, beforeLower, shape);
  addFeature(sink, afterLower, shape);
  addFeature(sink, beforeLower, leftEdge);
  addFeature(sink, afterLower, rightEdge);
  for (const ask of [kind, focusAsk, nextAsk, fineAsk]) {
    addFeature(sink, ask, beforeLower);
    addFeature(sink, ask, afterLower);
    addFeature(sink, ask, leftEdge);
    addFeature(sink, ask, rightEdge);
    addFeature(sink, ask, beforePair);
  }
  addFeature(sink, kind, mix(mix(afterLower, after2?.lowerHash ?? 1), 206));
  addFeature(sink, kind, mix(before?.fine ?? -2, 207));
  addFeature(sink, kind, mix(after?.fine ?? -2, 208));
  addFeature(sink, mix(kind, beforeLower), shape);
  addFeature(sink, mix(kind, afterLower), shape);
  addFeature(sink, mix(kind, mix(before2?.tag ?? 30, before?.tag ?? 30)), mix(first?.tag ?? 30, 209));
  addFeature(sink, mix(kind, mix(after?.tag ?? 30, after2?.tag ?? 30)), mix(last?.tag ?? 30, 210));
  if (asked.preposition !== 0) {
    addFeature(sink, asked.preposition, beforeLower);
    addFeature(sink, 211, asked.preposition === before?.lowerHash ? 1 : 0);
    addFeature(sink, mix(asked.preposition, 212), shape);
  }
  const edges =
    (facts.quoteDepth[from] ?? 0) * 2 +
    (/^["“]$/.test(before?.text ?? '') && /^["”]$/.test(after?.text ?? '') ? 1 : 0);
  addFeature(sink, kind, mix(edges, 213));
  addFeature(sink, mix(kind, shape), mix(edges, 214));
  const unfinished = nameGoesOn(first, before, before2) * 3 + nameGoesOn(last, after, after2);
  addFeature(sink, 9, mix(unfinished, 215));
  addFeature(sink, shape, mix(unfinished, 216));
  addFeature(sink, kind, mix(unfinished, 215));
}

const NAME_LINKS = /^(?:of|the|and|&|-|–|'s|de|for)$/;

/** 2 when the name at the span's edge goes on beyond it, 1 when it may ("Edge of | Night"), 0 when not. */
function nameGoesOn(edge: Token | undefined, next: Token | undefined, second: Token | undefined): number {
  if (edge === undefined || next === undefined || !(edge.capital || edge.digit)) return 0;
  if (next.capital) return 2;
  return NAME_LINKS.test(next.lower) && second?.capital === true ? 1 : 0;
}
