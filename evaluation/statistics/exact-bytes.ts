import type { Interval } from './inference/bootstrap.ts';

type ByteVerdict = 'smaller' | 'larger' | 'equal';

export interface JudgedBytes extends Interval {
  ratio: number;
  verdict: ByteVerdict;
}

/**
 * Compares exact byte sums of the same packets. A deterministic adapter writes them the same way every time, so there is
 * nothing to estimate: one byte more is larger, and the interval is the ratio itself.
 */
export function judgeBytes(baseline: number, other: number): JudgedBytes {
  for (const bytes of [baseline, other]) {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new RangeError(`expected an exact, positive number of bytes, got ${bytes}`);
    }
  }
  const ratio = other / baseline;
  const verdict = other < baseline ? 'smaller' : other > baseline ? 'larger' : 'equal';
  return { ratio, low: ratio, high: ratio, verdict };
}
