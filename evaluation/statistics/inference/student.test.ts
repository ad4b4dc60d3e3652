import { expect, it } from 'vitest';
import { computeStudentQuantile, computeStudentTail } from './student.ts';

it.each([
  // W. S. Gosset's table as R prints it: qt(0.975, n) and qt(0.95, n).
  [1, 12.7062047362, 6.3137515147],
  [2, 4.3026527297, 2.9199855804],
  [3, 3.1824463053, 2.3533634348],
  [4, 2.7764451052, 2.1318467863],
  [5, 2.5705818356, 2.0150483733],
  [9, 2.262157163, 1.8331129327],
  [30, 2.0422724563, 1.6972608866],
])('with %i degrees of freedom, 2.5 %% lie beyond %d and 5 %% beyond %d', (freedom, outer, inner) => {
  expect(computeStudentQuantile(0.025, freedom)).toBeCloseTo(outer, 8);
  expect(computeStudentQuantile(0.05, freedom)).toBeCloseTo(inner, 8);
  expect(computeStudentTail(outer, freedom)).toBeCloseTo(0.025, 10);
  expect(computeStudentTail(-inner, freedom)).toBeCloseTo(0.95, 10);
});

it('is the normal distribution when there are many', () => {
  for (const t of [0, 0.5, 1, 2, 3])
    expect(computeStudentTail(t, 100_000)).toBeCloseTo(computeStudentTail(t, Infinity), 5);
});

it('has its middle at 0 and nothing beyond the infinities', () => {
  expect(computeStudentTail(0, 7)).toBe(0.5);
  expect(computeStudentQuantile(0.5, 7)).toBeCloseTo(0, 9);
  expect(computeStudentTail(Infinity, 4)).toBe(0);
  expect(computeStudentTail(-Infinity, 5)).toBe(1);
});

it('refuses what is no tail, and degrees of freedom that are none', () => {
  for (const freedom of [0, 1.5, Number.NaN])
    expect(() => computeStudentTail(1, freedom)).toThrow(
      new RangeError(`expected a whole number of degrees of freedom, at least 1, got ${freedom}`),
    );
  for (const tail of [0, 0.6, Number.NaN])
    expect(() => computeStudentQuantile(tail, 4)).toThrow(
      new RangeError(`expected a tail from 0 to 0.5, got ${tail}`),
    );
});

it('with infinitely many is the normal distribution, whose tail it gives to 13 digits, near the middle and far out', () => {
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
    expect(computeStudentTail(z, Infinity) / tail).toBeCloseTo(1, 12);
  }
});

it('is continuous where the two methods for the normal distribution meet', () => {
  expect(computeStudentTail(3 + 1e-12, Infinity) / computeStudentTail(3, Infinity)).toBeCloseTo(1, 10);
});

it('is the rest of the other tail of the normal distribution, as far out as there are numbers', () => {
  for (const z of [0.1, 1, 3, 3.1, 8, 40, 1e6])
    expect(computeStudentTail(-z, Infinity), `${z}`).toBe(1 - computeStudentTail(z, Infinity));
  expect(computeStudentTail(-40, Infinity)).toBe(1);
});

it('gives the quantile of the normal distribution whose tail it is', () => {
  for (const z of [0, 0.8416, 1.96, 6])
    expect(computeStudentQuantile(computeStudentTail(z, Infinity), Infinity)).toBeCloseTo(z, 9);
  expect(computeStudentQuantile(0.025, Infinity)).toBeCloseTo(1.959963984540054, 12);
  for (const tail of [0.6, 0, -0.1, Number.NaN])
    expect(() => computeStudentQuantile(tail, Infinity)).toThrow(
      new RangeError(`expected a tail from 0 to 0.5, got ${tail}`),
    );
});
