import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testSignedRank } from './signed-rank.ts';

it('gives the exact p-values of published examples', () => {
  // Hollander and Wolfe, 1973, "Nonparametric statistical methods", table 3.1: depression scores of nine patients.
  const before = [1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3];
  const after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
  const patients = testSignedRank(after.map((score, i) => score - (before[i] ?? 0)));
  expect(patients).toMatchObject({ positive: 5, negative: 40, pValue: 0.0390625 });
  // Darwin's fifteen pairs of maize (R. Fisher, 1935, "The design of experiments", table 3), in eighths of an inch.
  const maize = testSignedRank([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]);
  expect(maize).toEqual({ positive: 96, negative: 24, pValue: 0.041259765625, effectSize: 0.6 });
});

it('agrees with the tables of critical values', () => {
  // Two-sided 5 %: the largest sum of ranks that is significant (F. Wilcoxon and R. Wilcox, 1964).
  for (const [n, critical] of [
    [6, 0],
    [10, 8],
    [20, 52],
    [30, 137],
    [50, 434],
  ] as const) {
    expect(testSignedRank(withNegativeSum(n, critical)).pValue).toBeLessThanOrEqual(0.05);
    expect(testSignedRank(withNegativeSum(n, critical + 1)).pValue).toBeGreaterThan(0.05);
  }
});

it('ranks zeros and then leaves them out, shares ranks among ties, and stays exact', () => {
  // 30 of the 1024 ways to sign the ten ranks as they are give a sum of 13.5 or less (counted one by one).
  const result = testSignedRank([0, 0, 1, 1, -1, 2, 3, -3, 4, 5, 2, 2]);
  expect(result).toMatchObject({ positive: 61.5, negative: 13.5, pValue: 60 / 1024 });
  expect(result.effectSize).toBe(48 / 78);
});

it('approximates for many pairs, with a continuity correction', () => {
  // scipy.stats.wilcoxon(method='approx', correction=True), SciPy 1.17.
  const differences = Array.from({ length: 150 }, (_, i) => ((i * 37) % 151) - 60.5 + 0.001 * i);
  expect(testSignedRank(differences).pValue).toBeCloseTo(0.0002572676966690309, 12);
});

it('is exact up to 100 pairs, and from then on errs a little towards no difference', () => {
  // scipy.stats.wilcoxon(method='exact'), SciPy 1.17, of 1 to n with every third negative.
  const everyThirdNegative = (n: number) =>
    Array.from({ length: n }, (_, i) => (i % 3 === 0 ? -1 : 1) * (i + 1));
  expect(testSignedRank(everyThirdNegative(100)).pValue).toBeCloseTo(0.005160103349552525, 12);
  const approximated = testSignedRank(everyThirdNegative(101)).pValue;
  expect(approximated).toBeGreaterThan(0.003376791125898837);
  expect(approximated).toBeLessThan(1.1 * 0.003376791125898837);
});

it('knows nothing without differences', () => {
  const nothing = { positive: 0, negative: 0, pValue: 1, effectSize: 0 };
  expect(testSignedRank([])).toEqual(nothing);
  expect(testSignedRank([0, 0, 0])).toEqual(nothing);
  expect(testSignedRank(new Float64Array(300))).toEqual(nothing);
});

it('refuses differences that cannot be ranked', () => {
  expect(() => testSignedRank([1, Number.NaN, 2])).toThrow(
    new RangeError('expected differences that are numbers, got NaN'),
  );
});

it('mirrors when the arms are swapped, and ignores the order of the rounds', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 130 }), (differences) => {
      const result = testSignedRank(differences);
      const swapped = testSignedRank(differences.map((d) => 0 - d).reverse());
      expect(swapped.pValue).toBeCloseTo(result.pValue, 12);
      expect(swapped.effectSize).toBeCloseTo(-result.effectSize, 12);
      expect(result.pValue).toBeGreaterThan(0);
      expect(result.pValue).toBeLessThanOrEqual(1);
      expect(Math.abs(result.effectSize)).toBeLessThanOrEqual(1);
    }),
  );
});

/** Differences 1 to n, of which those that are negative have ranks that sum to `sum`. */
function withNegativeSum(n: number, sum: number): number[] {
  let left = sum;
  return Array.from({ length: n }, (_, i) => n - i).map((rank) => {
    if (rank > left) return rank;
    left -= rank;
    return -rank;
  });
}
