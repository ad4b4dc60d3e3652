import { expect, it } from 'vitest';
import { computeNormalTail } from '../answers/paired-answers.ts';
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
    expect(computeStudentTail(t, 100_000)).toBeCloseTo(computeNormalTail(t), 5);
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
