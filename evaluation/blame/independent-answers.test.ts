import { expect, test } from 'vitest';
import { compareChances, findDetectableFall, testFisher } from './judge.ts';

test('Fisher’s lady: all eight cups told right have a chance of 1 in 70, six of 17 in 70', () => {
  expect(testFisher({ right: 4, tries: 4 }, { right: 0, tries: 4 })).toBeCloseTo(1 / 70, 12);
  expect(testFisher({ right: 3, tries: 4 }, { right: 1, tries: 4 })).toBeCloseTo(17 / 70, 12);
  expect(testFisher({ right: 0, tries: 5 }, { right: 5, tries: 5 })).toBeCloseTo(1, 12);
  expect(testFisher({ right: 0, tries: 0 }, { right: 0, tries: 5 })).toBe(1);
});

test('the smallest fall that is found in four of five analyses follows from the number of tries', () => {
  // Five against none of five are called from four right on: at 0.85 their chance is 0.835, at 0.8 it is 0.737.
  expect(findDetectableFall(5, 5, 0.025)).toBe(0.84);
  expect(findDetectableFall(40, 40, 0.05)).toBeLessThan(0.2);
  expect(findDetectableFall(2, 2, 0.05)).toBeNull();
  expect(findDetectableFall(0, 5, 0.05)).toBeNull();
});

test('intervals of differences are those of Newcombe’s table II, method 10', () => {
  const one = compareChances({ right: 56, tries: 70 }, { right: 48, tries: 80 });
  expect([one.difference, one.low, one.high].map((value) => value.toFixed(4))).toEqual([
    '0.2000',
    '0.0524',
    '0.3339',
  ]);
  const other = compareChances({ right: 10, tries: 10 }, { right: 0, tries: 20 });
  expect([other.low, other.high].map((value) => value.toFixed(4))).toEqual(['0.6791', '1.0000']);
  const [none, single] = [
    { right: 0, tries: 0 },
    { right: 1, tries: 1 },
  ];
  for (const [before, after] of [
    [none, single],
    [single, none],
  ] as const)
    expect(compareChances(before, after)).toEqual({ difference: 0, low: -1, high: 1 });
});
