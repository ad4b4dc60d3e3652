import { mix } from './hash.ts';

/** Features are scored in groups, so that step 4 can weigh them: see spanFeatures for what each holds. */
export const GROUPS = 6;
/** Features are named by hashes of this many bits; the weights are one table of that size. */
export const HASH_BITS = 22;
const HASH_SHIFT = 32 - HASH_BITS;

/** Collects the features of one span; the ids of group g end at `ends[g]`. */
export type FeatureSink = { ids: Uint32Array; count: number; ends: number[]; shape: number; head: number };

export function createSink(): FeatureSink {
  return { ids: new Uint32Array(512), count: 0, ends: [0, 0, 0, 0, 0, 0], shape: 0, head: 0 };
}

export function addFeature(sink: FeatureSink, left: number, right: number): void {
  sink.ids[sink.count++] = mix(left, right) >>> HASH_SHIFT;
}

const DISTANCE_BUCKETS = [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8];
/** Distances in tokens, ever coarser; a negative one means there is nothing on that side. */
export function distanceBucket(distance: number): number {
  return distance < 0 ? 11 : (DISTANCE_BUCKETS[distance] ?? (distance < 25 ? 9 : 10));
}
