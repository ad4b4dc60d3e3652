const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Microseconds of the system's monotonic clock: the same for all processes of this machine, so that a packet's times at its
 * sender, the hub and its receiver can be subtracted. Accurate to about a microsecond.
 */
export function monotonicUs(): number {
  return (performance.now() + offsetMs) * 1000;
}
