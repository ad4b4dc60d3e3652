// The trained scorer of step 3: one int8 weight per hashed feature, and the tag pairs an answer may begin or end at.

import { TAGS, type Token } from '../language/tag-words.ts';
import { packWeightFile, readWeightFile } from '../weight-file.ts';
import { HASH_BITS } from './feature-sink.ts';

const KIND = 'SPAN';
const VERSION = 1;
const SIDES = 2;
/** One more than the tags: the sentence's end counts as a tag. */
export const EDGE_TAGS = TAGS.length + 1;
export const MAX_SPAN_TOKENS = 14;

const ARTICLES = new Set(['the', 'a', 'an']);
const BREAKS = new Set([';', ':', '!', '?']);

export type SpanModel = {
  /** Row: tag before the edge, column: tag behind it; first the left edges, then the right ones. */
  edges: Uint8Array;
  weights: Int8Array;
  scale: number;
};

export type TokenSpan = { from: number; to: number };

export function edgeIndex(side: 0 | 1, tokens: readonly Token[], at: number): number {
  const outer = tokens[side === 0 ? at - 1 : at + 1]?.tag ?? TAGS.length;
  const inner = tokens[at]?.tag ?? TAGS.length;
  return side * EDGE_TAGS * EDGE_TAGS + outer * EDGE_TAGS + inner;
}

/** Every span the edges allow, up to the length bound; the work is the sentence's length times the bound. */
export function listSpans(edges: Uint8Array, tokens: readonly Token[]): TokenSpan[] {
  const spans: TokenSpan[] = [];
  const ends = tokens.map((_, at) => edges[edgeIndex(1, tokens, at)] === 1);
  for (const [from, token] of tokens.entries()) {
    // Articles are dropped by every scorer; a span with one is the same answer as the span without.
    if (edges[edgeIndex(0, tokens, from)] !== 1 || ARTICLES.has(token.lower)) continue;
    for (let to = from; to < Math.min(tokens.length, from + MAX_SPAN_TOKENS); to++) {
      if (BREAKS.has(tokens[to]?.text ?? '')) break;
      if (ends[to] === true) spans.push({ from, to });
    }
  }
  return spans;
}

/** Sparse on disk: for each weight that is not 0, the gap to the one before (LEB128) and the weight. */
export function packSpanModel(model: SpanModel): Uint8Array {
  const bytes: number[] = [];
  let previous = -1;
  for (let id = 0; id < model.weights.length; id++) {
    const weight = model.weights[id] ?? 0;
    if (weight === 0) continue;
    let gap = id - previous;
    while (gap >= 128) {
      bytes.push((gap & 127) | 128);
      gap >>>= 7;
    }
    bytes.push(gap, weight & 255);
    previous = id;
  }
  const body = Buffer.alloc(4 + model.edges.length + bytes.length);
  body.writeFloatLE(model.scale, 0);
  body.set(model.edges, 4);
  body.set(bytes, 4 + model.edges.length);
  return packWeightFile(KIND, VERSION, body);
}

export function loadSpanModel(url: URL): SpanModel {
  const body = readWeightFile(url, KIND, VERSION);
  const edgeBytes = SIDES * EDGE_TAGS * EDGE_TAGS;
  const weights = new Int8Array(1 << HASH_BITS);
  let id = -1;
  let at = 4 + edgeBytes;
  while (at < body.length) {
    let gap = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body[at++] ?? 0;
      gap |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    id += gap;
    weights[id] = ((body[at++] ?? 0) << 24) >> 24;
  }
  return {
    edges: body.slice(4, 4 + edgeBytes),
    weights,
    scale: new DataView(body.buffer).getFloat32(0, true),
  };
}
