import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReplayGuard } from './replay-guard.ts';

const WINDOW = 8;

/** Returns for each number, in order of arrival, whether the guard accepts it. */
function letIn(guard: ReplayGuard, numbers: readonly number[]): boolean[] {
  return numbers.map((sequence) => {
    const stamp = { sender: 'a', sequence, isVerified: true };
    const blob = new Uint8Array(1);
    try {
      guard.check(stamp, 'a', blob);
    } catch {
      return false;
    }
    guard.remember(stamp, blob);
    return true;
  });
}

describe('frames that may pass each other', () => {
  test('come once each, in any order within the window, and never again', () => {
    const order = fc.shuffledSubarray(
      Array.from({ length: WINDOW }, (_, i) => i),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(order, fc.nat(1000), (offsets, start) => {
        const guard = new ReplayGuard('x', WINDOW);
        const numbers = offsets.map((offset) => start + offset);
        expect(letIn(guard, numbers)).toEqual(numbers.map(() => true));
        expect(letIn(guard, numbers)).toEqual(numbers.map(() => false));
      }),
    );
  });

  test('are refused once they have left the window, however long it has been in use', () => {
    const guard = new ReplayGuard('x', WINDOW);
    const even = Array.from({ length: 100 }, (_, i) => 2 * i);
    expect(letIn(guard, even)).not.toContain(false);
    const odd = even.map((number) => number + 1);
    expect(letIn(guard, odd.slice(0, -1)).filter(Boolean)).toHaveLength(WINDOW / 2);
  });

  test('there are none without a window', () => {
    expect(letIn(new ReplayGuard('x'), [5, 4, 6, 6, 7])).toEqual([true, false, true, false, true]);
  });
});
