import { expect, it } from 'vitest';
import { judgeArms } from '../compare/judged-arms.ts';

const none = { time: [], cpu: [], first: [], saturated: [] };

const measured = {
  invocations: new Map(),
  nullArm: [],
  failed: [],
  lost: 0,
  stopped: 'invocations',
  elapsedMs: 1,
  machine: [],
  warnings: [],
} as const;

/** Compares the bytes of two arms without times. */
function compareBytes(baseline: number, other: number) {
  const [a, b] = [baseline, other].map((wire_bytes) => ({
    name: 'arm',
    invocations: 1,
    wire_bytes,
    samples_us: none,
  }));
  if (a === undefined || b === undefined) throw new Error('there are two');
  return judgeArms(measured, [a, b], none, 0.05).arms[1]?.vs_baseline?.bytes;
}

it('compares bytes to the byte', () => {
  expect(compareBytes(1000, 1000)).toEqual({ ratio: 1, low: 1, high: 1, verdict: 'equal' });
  expect(compareBytes(1000, 999)).toEqual({ ratio: 0.999, low: 0.999, high: 0.999, verdict: 'smaller' });
  expect(compareBytes(1000, 1001)).toMatchObject({ ratio: 1.001, verdict: 'larger' });
});

it('refuses bytes that are not exact', () => {
  for (const bytes of [0, -1, 1.5, 2 ** 53, Number.NaN]) {
    expect(() => compareBytes(bytes, 1)).toThrow(RangeError);
    expect(() => compareBytes(1, bytes)).toThrow(RangeError);
  }
});
