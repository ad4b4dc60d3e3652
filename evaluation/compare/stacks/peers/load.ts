import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Load, Reply } from './protocol.ts';

/** One exchange, ready to begin: its time includes neither its preparation nor the check of its answer. */
interface Prepared {
  readonly begin: () => Promise<readonly Packet[]>;
  /** Throws if the answer is not the expected one. */
  readonly check: (came: readonly Packet[]) => void;
}

/** Prepares the exchange number `index` of a load. */
type Prepare = (index: number) => Prepared;

/**
 * Maximum waiting exchanges of an open load. With more, the rate exceeds the capacity of the ends, and times and memory would grow as long
 * as the load lasts.
 */
const MAX_WAITING = 512;
/** Milliseconds before a start from which the load polls the clock, because a timer may be up to a millisecond late. */
const SPIN_MS = 1.5;

/** Plays a load to its end; a rejected exchange ends it. */
export function play(load: Load, prepare: Prepare): Promise<Reply<'play'>> {
  return load.kind === 'closed' ? playClosedLoop(load, prepare) : openLoop(load, prepare);
}

async function playClosedLoop(
  { count, concurrency, maxMs }: Extract<Load, { kind: 'closed' }>,
  prepare: Prepare,
): Promise<Reply<'play'>> {
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
 * Starts exchanges at fixed times and measures each from its due time, so exchanges that wait behind a slow one are slow, too. A load that
 * waits for an answer before it sends the next request would omit those (G. Tene, 2015, "How NOT to measure latency": coordinated
 * omission).
 */
async function openLoop(
  { count, ratePerS, maxMs, maxWaiting = MAX_WAITING }: Extract<Load, { kind: 'open' }>,
  prepare: Prepare,
): Promise<Reply<'play'>> {
  const gapMs = 1000 / ratePerS;
  const timesUs: number[] = [];
  const waiting = new Set<Promise<void>>();
  let lateUs = 0;
  let failure: { readonly error: unknown } | undefined;
  const startMs = performance.now() + SPIN_MS;
  const most = Math.min(maxWaiting, MAX_WAITING);
  for (let index = 0; index < count && waiting.size < most && failure === undefined; index++) {
    const dueMs = startMs + index * gapMs;
    if (index > 0 && maxMs !== undefined && performance.now() - startMs > maxMs) break;
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
  const isOverloaded = waiting.size >= most;
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

/** Waits one turn of the event loop, in which answers that have arrived are read. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
