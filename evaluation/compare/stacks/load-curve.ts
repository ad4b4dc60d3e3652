import { computePercentile } from '../../statistics/inference/quantile.ts';
import type { StackArm } from '../comparison-file.ts';
import type { Pair } from './peers/pair.ts';

/** Result of an open load at one rate; without times if too many exchanges were waiting. */
export type LoadPoint = NonNullable<StackArm['curve']>[number];

/** Loads as shares of the saturated throughput, close together where the queue begins. */
const SHARES = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const POINT_MS = 400;
const MIN_COUNT = 100;
const MAX_COUNT = 5000;
/**
 * Factor over the lowest load's median that marks the knee. Past it the times grow as long as the load lasts, so further points would only
 * show its duration.
 */
const KNEE = 10;

/**
 * Raises an open load step by step until an exchange takes ten times as long as at the lowest load, or the ends fall behind.
 *
 * @param saturatedPerS exchanges a second if each begins as soon as the previous one ends
 * @param extent number of waiting exchanges that is too high, and the time at which the last step has begun
 */
export async function loadCurve(
  pair: Pair,
  saturatedPerS: number,
  { maxWaiting, endMs }: { readonly maxWaiting: number; readonly endMs: number },
): Promise<readonly LoadPoint[]> {
  const points: LoadPoint[] = [];
  for (const share of SHARES) {
    const ratePerS = saturatedPerS * share;
    const count = Math.min(MAX_COUNT, Math.max(MIN_COUNT, Math.round((ratePerS * POINT_MS) / 1000)));
    if (performance.now() + (count / ratePerS) * 1000 > endMs) break;
    const load = { kind: 'open', count, ratePerS, maxWaiting } as const;
    const { timesUs, elapsedMs, isOverloaded, count: n } = await pair.play(load);
    const times = isOverloaded ? null : timesUs;
    points.push({
      offered_per_s: ratePerS,
      achieved_per_s: (n / elapsedMs) * 1000,
      n,
      p50_us: times === null ? null : computePercentile(times, 0.5),
      p99_us: times === null || n < MIN_COUNT ? null : computePercentile(times, 0.99),
    });
    const [lowest] = points;
    const last = points.at(-1);
    if (isBeyondKnee(lowest?.p50_us ?? null, last?.p50_us ?? null)) break;
  }
  return points;
}

function isBeyondKnee(lowest: number | null, last: number | null): boolean {
  return last === null || (lowest !== null && last > KNEE * lowest);
}

/** Finds the highest load that the ends kept up with: its median is below the knee, and throughput matches the offered rate. */
export function findKnee(points: readonly LoadPoint[]): LoadPoint | undefined {
  const lowest = points[0]?.p50_us ?? null;
  return points.findLast(
    ({ p50_us: us, offered_per_s, achieved_per_s }) =>
      us !== null && !isBeyondKnee(lowest, us) && achieved_per_s > 0.95 * offered_per_s,
  );
}
