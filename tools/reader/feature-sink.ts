import { mix } from './hash.ts';

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

/** Collects features and the group of each. */
export type FeatureSink = { ids: Uint32Array; groups: Uint8Array; count: number };

export function createSink(): FeatureSink {
  return { ids: new Uint32Array(MAX_FEATURES), groups: new Uint8Array(MAX_FEATURES), count: 0 };
}

export function addFeature(sink: FeatureSink, group: number, left: number, right: number): void {
  sink.ids[sink.count] = mix(left, right) >>> HASH_SHIFT;
  sink.groups[sink.count] = group;
  sink.count++;
}

const DISTANCE_BUCKETS = [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8];
/** Distances in tokens, ever coarser; a negative one means there is nothing on that side. */
export function distanceBucket(distance: number): number {
  return distance < 0 ? 11 : (DISTANCE_BUCKETS[distance] ?? (distance < 25 ? 9 : 10));
}
