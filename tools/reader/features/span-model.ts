// The trained scorer of step 3: one int8 weight per hashed feature, and the tag pairs at which an answer may begin or
// end.

import { TAGS, type Token } from '../language/tag-words.ts';
import { packSparse, packWeightFile, readSparse, readWeightFile } from '../weight-file.ts';
import { HASH_BITS } from './feature-sink.ts';

const KIND = 'SPAN';
const VERSION = 1;
const SIDES = 2;
/** Number of tags and the sentence's end, which counts as a tag. */
export const EDGE_TAGS = TAGS.length + 1;
export const MAX_SPAN_TOKENS = 14;

const ARTICLES = new Set(['the', 'a', 'an']);
const BREAKS = new Set([';', ':', '!', '?']);

export type SpanModel = {
  /** 1 where an edge is allowed. Rows are tags outside the edge and columns tags inside; left edges come first. */
  edges: Uint8Array;
  weights: Int8Array;
  scale: number;
};

export type TokenSpan = { from: number; to: number };

export function computeEdgeIndex(side: 0 | 1, tokens: readonly Token[], at: number): number {
  const outer = tokens[side === 0 ? at - 1 : at + 1]?.tag ?? TAGS.length;
  const inner = tokens[at]?.tag ?? TAGS.length;
  return side * EDGE_TAGS * EDGE_TAGS + outer * EDGE_TAGS + inner;
}

/** Lists every span that the edges allow, up to the length bound; the work is the sentence's length times the bound. */
export function listSpans(edges: Uint8Array, tokens: readonly Token[]): TokenSpan[] {
  const spans: TokenSpan[] = [];
  const ends = tokens.map((_, at) => edges[computeEdgeIndex(1, tokens, at)] === 1);
  for (const [from, token] of tokens.entries()) {
    // Every scorer drops articles; a span with one is the same answer as the span without.
    if (edges[computeEdgeIndex(0, tokens, from)] !== 1 || ARTICLES.has(token.lower)) continue;
    for (let to = from; to < Math.min(tokens.length, from + MAX_SPAN_TOKENS); to++) {
      if (BREAKS.has(tokens[to]?.text ?? '')) break;
      if (ends[to] === true) spans.push({ from, to });
    }
  }
  return spans;
}

export function packSpanModel({ scale, edges, weights }: SpanModel): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeFloatLE(scale, 0);
  return packWeightFile(KIND, VERSION, Buffer.concat([head, edges, packSparse(weights)]));
}

export function loadSpanModel(url: URL): SpanModel {
  const body = readWeightFile(url, KIND, VERSION);
  const end = 4 + SIDES * EDGE_TAGS * EDGE_TAGS;
  const weights = new Int8Array(1 << HASH_BITS);
  readSparse(body.subarray(end), (id, weight) => {
    weights[id] = weight;
  });
  return { edges: body.slice(4, end), weights, scale: new DataView(body.buffer).getFloat32(0, true) };
}
