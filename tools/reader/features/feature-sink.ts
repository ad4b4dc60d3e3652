import { mix } from '../hash.ts';

/** Features are scored in groups, so that step 4 can weigh them. */
export const GROUPS = 6;
/** Features are named by hashes of this many bits; the weights are one table of that size. */
export const HASH_BITS = 22;
const HASH_SHIFT = 32 - HASH_BITS;

/** What is asked × what the span looks like (by the words around the question word, by the class it names, and the rest). */
export const PLAIN = 0;
export const FOCUS = 1;
export const SHAPE = 2;
/** What stands beside the span. */
export const BESIDE = 3;
/** How it stands to the question's words, and to its verbs, its class and its order of words. */
export const MATCH = 4;
export const ORDER = 5;

// A span has about 200 features; a write beyond the end is dropped.
const MAX_FEATURES = 512;

/** Takes the features of a span: lists their ids for training or, given weights, adds those up by group. */
export type FeatureSink = {
  readonly ids: Uint32Array;
  count: number;
  /** Empty in a sink that lists. */
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
/** Distances in tokens, ever coarser; a negative one means there is nothing on that side. */
export function bucketDistance(distance: number): number {
  return distance < 0 ? 11 : (DISTANCE_BUCKETS[distance] ?? (distance < 25 ? 9 : 10));
}
