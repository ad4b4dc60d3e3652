import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitPatiently } from './patience.ts';

describe('patience', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Milliseconds until 5 s of patience end. */
  function endOf(crowding: () => number): number {
    const onEnd = vi.fn();
    waitPatiently(5000, onEnd, crowding);
    let ms = 0;
    for (; onEnd.mock.calls.length === 0 && ms < 1_000_000; ms += 50) vi.advanceTimersByTime(50);
    vi.advanceTimersByTime(100_000);
    expect(onEnd).toHaveBeenCalledOnce();
    return ms;
  }

  it('ends after its time on an idle machine', () => {
    expect(endOf(() => 1)).toBe(5000);
  });

  it('lasts as much longer as there are processes for each core', () => {
    expect(endOf(() => 10)).toBeGreaterThan(45_000);
    expect(endOf(() => 10)).toBeLessThan(55_000);
  });

  it('counts a stop of this process as one look', () => {
    const onEnd = vi.fn();
    const crowding = vi.fn(() => 1);
    waitPatiently(1000, onEnd, crowding);
    // A late timer fires only once.
    vi.advanceTimersByTime(250);
    expect(crowding).toHaveBeenCalledOnce();
    expect(onEnd).not.toHaveBeenCalled();
  });

  it('can be called off', () => {
    const onEnd = vi.fn();
    waitPatiently(1000, onEnd, () => 1)();
    vi.advanceTimersByTime(10_000);
    expect(onEnd).not.toHaveBeenCalled();
  });
});
