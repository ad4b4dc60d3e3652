import { mix } from '../hash.ts';

/** Number of groups in which features are scored, so that step 4 can weigh each group. */
export const GROUPS = 6;
/** Bits of the hash that names a feature; the weights are one table of that size. */
export const HASH_BITS = 22;
const HASH_SHIFT = 32 - HASH_BITS;

/**
 * Groups for the question crossed with the look of the span: by the words around the question word, by the class that
 * the question names, and by all its topic words.
 */
export const PLAIN = 0;
export const FOCUS = 1;
export const SHAPE = 2;
/** Group for the words beside the span. */
export const BESIDE = 3;
/** Groups for the span's relation to the question's words, and to its verbs, its class and its order of words. */
export const MATCH = 4;
export const ORDER = 5;

// A span has about 200 features; a write beyond the end is dropped.
const MAX_FEATURES = 512;

/** Collects the features of a span: lists their ids for training or, given weights, adds those up by group. */
export type FeatureSink = {
  readonly ids: Uint32Array;
  count: number;
  /** Weights by feature id; empty in a sink that lists ids. */
  readonly weights: Int8Array;
  readonly sums: Int32Array;
};

export function createSink(weights: Int8Array = new Int8Array()): FeatureSink {
  return {
    ids: new Uint32Array(weights.length === 0 ? MAX_FEATURES : 0),
    count: 0,
    weights,
    sums: new Int32Array(GROUPS),
  };
}

export function addFeature(sink: FeatureSink, group: number, left: number, right: number): void {
  const { weights } = sink;
  const id = mix(left, right) >>> HASH_SHIFT;
  if (weights.length === 0) sink.ids[sink.count++] = id;
  else sink.sums[group] = (sink.sums[group] ?? 0) + (weights[id] ?? 0);
}

const DISTANCE_BUCKETS = [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8];
/** Sorts a distance in tokens into ever coarser buckets; a negative distance means that nothing stands on that side. */
export function bucketDistance(distance: number): number {
  return distance < 0 ? 11 : (DISTANCE_BUCKETS[distance] ?? (distance < 25 ? 9 : 10));
}
