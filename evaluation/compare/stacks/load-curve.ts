import { computePercentile } from '../../statistics/inference/quantile.ts';
import type { Pair } from './peers/pair.ts';

/** What a load of so many exchanges a second came to. */
export interface LoadPoint {
  readonly offeredPerS: number;
  readonly achievedPerS: number;
  readonly n: number;
  /** Microseconds since each should have begun; null where more waited than anybody waits for. */
  readonly p50Us: number | null;
  readonly p99Us: number | null;
}

/** Shares of what the pair does when it never waits: close together where the queue begins. */
const SHARES = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const POINT_MS = 400;
const MIN_COUNT = 100;
const MAX_COUNT = 5000;
/** Past the knee the times grow for as long as the load goes on: a point more would only show how long that was. */
const KNEE = 10;

/**
 * Raises an open load step by step until an exchange takes ten times what it takes at the lowest, or the ends do not keep up.
 *
 * @param saturatedPerS exchanges a second when the next begins as soon as one is over
 */
export async function loadCurve(pair: Pair, saturatedPerS: number): Promise<readonly LoadPoint[]> {
  const points: LoadPoint[] = [];
  for (const share of SHARES) {
    const ratePerS = saturatedPerS * share;
    const count = Math.min(MAX_COUNT, Math.max(MIN_COUNT, Math.round((ratePerS * POINT_MS) / 1000)));
    const { timesUs, elapsedMs, isOverloaded, count: n } = await pair.play({ kind: 'open', count, ratePerS });
    const times = isOverloaded ? null : timesUs;
    points.push({
      offeredPerS: ratePerS,
      achievedPerS: (n / elapsedMs) * 1000,
      n,
      p50Us: times === null ? null : computePercentile(times, 0.5),
      p99Us: times === null || n < MIN_COUNT ? null : computePercentile(times, 0.99),
    });
    const [lowest] = points;
    const last = points.at(-1);
    if (isBeyondKnee(lowest?.p50Us ?? null, last?.p50Us ?? null)) break;
  }
  return points;
}

function isBeyondKnee(lowest: number | null, last: number | null): boolean {
  return last === null || (lowest !== null && last > KNEE * lowest);
}

/** The highest load that the ends kept up with: at most so many times slower than the lowest, and no more offered than done. */
export function findKnee(points: readonly LoadPoint[]): LoadPoint | undefined {
  const lowest = points[0]?.p50Us ?? null;
  return points.findLast(
    ({ p50Us, offeredPerS, achievedPerS }) =>
      p50Us !== null && !isBeyondKnee(lowest, p50Us) && achievedPerS > 0.95 * offeredPerS,
  );
}

/** What a server keeps as one task grows: of its heap after a collection, and of the time of an exchange. */
export interface Growth {
  readonly points: readonly {
    /** Exchanges of the task so far. */
    readonly exchanges: number;
    readonly heapBytes: number;
    readonly rssBytes: number;
    /** Microseconds, the median of those since the point before. */
    readonly exchangeUs: number | null;
  }[];
}

const GROWTH_STEP = 50;
const GROWTH_STEPS = 4;
const GROWTH_MS = 10_000;

/** Plays exchanges that all belong to one task. */
export async function measureGrowth(pair: Pair): Promise<Growth> {
  const points: Growth['points'][number][] = [];
  let exchanges = 0;
  let exchangeUs: number | null = null;
  for (let step = 0; step <= GROWTH_STEPS; step++) {
    const [, { heapBytes, rssBytes }] = await pair.count(true);
    points.push({ exchanges, heapBytes, rssBytes, exchangeUs });
    if (step === GROWTH_STEPS) break;
    const load = { kind: 'closed', count: GROWTH_STEP, concurrency: 1, maxMs: GROWTH_MS } as const;
    const { count, timesUs } = await pair.play(load, { tasks: 'same' });
    exchanges += count;
    exchangeUs = count === 0 ? null : computePercentile(timesUs, 0.5);
  }
  return { points };
}
