import fc from 'fast-check';
import { expect, it } from 'vitest';
import { adjustHolm } from './holm.ts';

it('adjusts as published', () => {
  // R: p.adjust(p, 'holm').
  const close = (values: number[]) => values.map((value) => expect.closeTo(value, 12));
  expect(adjustHolm([0.01, 0.04, 0.03, 0.005])).toEqual(close([0.03, 0.06, 0.06, 0.02]));
  expect(adjustHolm([0.2, 0.001, 0.9, 0.6])).toEqual(close([0.6, 0.004, 1, 1]));
  expect(adjustHolm([0.04])).toEqual([0.04]);
  expect(adjustHolm([1, 0])).toEqual([1, 0]);
  expect(adjustHolm([])).toEqual([]);
});

it('never lowers a p-value, keeps their order, and stays at or below Bonferroni', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }), (pValues) => {
      const adjusted = adjustHolm(pValues);
      const pairs = pValues.map((p, i) => [p, adjusted[i] ?? Number.NaN] as const).sort(([a], [b]) => a - b);
      for (const [i, [p, adjustedP]] of pairs.entries()) {
        expect(adjustedP).toBeGreaterThanOrEqual(p);
        expect(adjustedP).toBeLessThanOrEqual(Math.min(1, p * pValues.length));
        expect(adjustedP).toBeGreaterThanOrEqual(pairs[i - 1]?.[1] ?? 0);
      }
    }),
  );
});

it('refuses what is no probability', () => {
  for (const p of [-0.01, 1.01, Number.NaN])
    expect(() => adjustHolm([0.5, p])).toThrow(new RangeError(`expected p-values from 0 to 1, got ${p}`));
});
