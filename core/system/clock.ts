const offsetMs = measureOffset();

/**
 * Microseconds of the system's monotonic clock: the same for all processes of this machine, so that a packet's times at its
 * sender, the hub and its receiver can be subtracted. Accurate to about a microsecond.
 */
export function readMonotonicUs(): number {
  return (performance.now() + offsetMs) * 1000;
}

/** The process may lose its core between two looks at a clock: of several tries the one that took the least time counts. */
function measureOffset(tries = 16): number {
  let best = { tookMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let attempt = 0; attempt < tries; attempt++) {
    const beforeMs = performance.now();
    const systemMs = Number(process.hrtime.bigint()) / 1e6;
    const afterMs = performance.now();
    const tookMs = afterMs - beforeMs;
    if (tookMs < best.tookMs) best = { tookMs, offsetMs: systemMs - (beforeMs + afterMs) / 2 };
  }
  return best.offsetMs;
}
