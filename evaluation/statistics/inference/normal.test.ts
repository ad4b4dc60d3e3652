import { expect, it } from 'vitest';
import { computeNormalQuantile, computeNormalTail } from '../answers/paired-answers.ts';

it('gives the tail to 13 digits, near the middle and far out', () => {
  // scipy.stats.norm.sf, SciPy 1.17.
  for (const [z, tail] of [
    [0, 0.5],
    [0.5, 0.3085375387259869],
    [1, 0.15865525393145707],
    [1.96, 0.024997895148220435],
    [3, 0.0013498980316300933],
    [3.5, 0.00023262907903552502],
    [6, 9.865876450376946e-10],
    [10, 7.61985302416047e-24],
    [-2, 0.9772498680518208],
  ] as const) {
    expect(computeNormalTail(z) / tail).toBeCloseTo(1, 12);
  }
});

it('is continuous where the two methods meet', () => {
  expect(computeNormalTail(3 + 1e-12) / computeNormalTail(3)).toBeCloseTo(1, 10);
});

it('is the rest of the other tail, as far out as there are numbers', () => {
  for (const z of [0.1, 1, 3, 3.1, 8, 40, 1e6])
    expect(computeNormalTail(-z), `${z}`).toBe(1 - computeNormalTail(z));
  expect(computeNormalTail(-40)).toBe(1);
});

it('gives the quantile whose tail it is', () => {
  for (const z of [0, 0.8416, 1.96, 6]) expect(computeNormalQuantile(computeNormalTail(z))).toBeCloseTo(z, 9);
  expect(computeNormalQuantile(0.025)).toBeCloseTo(1.959963984540054, 12);
  for (const tail of [0.6, 0, -0.1, Number.NaN])
    expect(() => computeNormalQuantile(tail)).toThrow(
      new RangeError(`expected a tail from 0 to 0.5, got ${tail}`),
    );
});
