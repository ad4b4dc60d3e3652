const TRIES = 16;
const offsetMs = measureOffset();

/**
 * Returns microseconds of the system's monotonic clock. It is the same for all processes of this machine, so
 * a packet's times at its sender, the hub and its receiver can be subtracted. Accurate to about a
 * microsecond.
 */
export function readMonotonicUs(): number {
  return (performance.now() + offsetMs) * 1000;
}

/**
 * Measures the offset between the two clocks. The process may lose its core between two readings, so the
 * fastest of several tries counts.
 */
function measureOffset(): number {
  let best = { tookMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const beforeMs = performance.now();
    const systemMs = Number(process.hrtime.bigint()) / 1e6;
    const afterMs = performance.now();
    const tookMs = afterMs - beforeMs;
    if (tookMs < best.tookMs) best = { tookMs, offsetMs: systemMs - (beforeMs + afterMs) / 2 };
  }
  return best.offsetMs;
}
