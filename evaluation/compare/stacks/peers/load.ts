import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Load, PlayResult } from './protocol.ts';

/** One exchange, ready to begin: making it and looking at its answer takes none of its time. */
interface Prepared {
  readonly begin: () => Promise<readonly Packet[]>;
  /** Throws for an answer that was not expected. */
  readonly check: (came: readonly Packet[]) => void;
}

/** The exchange that comes `index`-th in a load. */
type Prepare = (index: number) => Prepared;

/**
 * Exchanges that an open load lets wait at once. With more of them the rate is beyond what the ends can do, the times would grow for as
 * long as it goes on, and so would the memory.
 */
const MAX_WAITING = 512;
/** Closer than this to a start the load looks again and again: a timer comes up to a millisecond late. */
const SPIN_MS = 1.5;

/** Plays a load to its end. What an exchange rejects with ends it. */
export function play(load: Load, prepare: Prepare): Promise<PlayResult> {
  return load.kind === 'closed' ? playClosedLoop(load, prepare) : openLoop(load, prepare);
}

async function playClosedLoop(
  { count, concurrency, maxMs }: Extract<Load, { kind: 'closed' }>,
  prepare: Prepare,
): Promise<PlayResult> {
  const timesUs: number[] = [];
  const startMs = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count && performance.now() - startMs < maxMs) {
      const index = next;
      next += 1;
      const { begin, check } = prepare(index);
      const beganMs = performance.now();
      const came = await begin();
      timesUs[index] = (performance.now() - beganMs) * 1000;
      check(came);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  const elapsedMs = performance.now() - startMs;
  return { count: timesUs.length, elapsedMs, timesUs, lateUs: 0, isOverloaded: false };
}

/**
 * Starts exchanges at fixed times and measures each from when it should have begun: what waits behind a slow one is slow, too. A load
 * that waits for an answer before it asks again leaves those out (G. Tene, 2015, "How NOT to measure latency": coordinated omission).
 */
async function openLoop(
  { count, ratePerS }: Extract<Load, { kind: 'open' }>,
  prepare: Prepare,
): Promise<PlayResult> {
  const gapMs = 1000 / ratePerS;
  const timesUs: number[] = [];
  const waiting = new Set<Promise<void>>();
  let lateUs = 0;
  let failure: { readonly error: unknown } | undefined;
  const startMs = performance.now() + SPIN_MS;
  for (let index = 0; index < count && waiting.size < MAX_WAITING && failure === undefined; index++) {
    const dueMs = startMs + index * gapMs;
    const { begin, check } = prepare(index);
    await waitUntil(dueMs);
    lateUs = Math.max(lateUs, (performance.now() - dueMs) * 1000);
    const exchange = begin()
      .then((came) => {
        timesUs[index] = (performance.now() - dueMs) * 1000;
        check(came);
      })
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => waiting.delete(exchange));
    waiting.add(exchange);
  }
  const isOverloaded = waiting.size >= MAX_WAITING;
  await Promise.all(waiting);
  if (failure !== undefined) throw failure.error;
  const elapsedMs = performance.now() - startMs;
  return { count: timesUs.length, elapsedMs, timesUs, lateUs, isOverloaded };
}

async function waitUntil(dueMs: number): Promise<void> {
  for (let leftMs = dueMs - performance.now(); leftMs > 0; leftMs = dueMs - performance.now()) {
    await (leftMs > SPIN_MS ? waitMs(leftMs - SPIN_MS) : turn());
  }
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Answers that have come are read meanwhile. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
