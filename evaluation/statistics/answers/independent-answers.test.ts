import { expect, test } from 'vitest';
import { compareChances, testFisher } from './independent-answers.ts';

test('Fisher’s lady: all eight cups told right have a chance of 1 in 70, six of 17 in 70', () => {
  expect(testFisher({ right: 4, tries: 4 }, { right: 0, tries: 4 })).toBeCloseTo(1 / 70, 12);
  expect(testFisher({ right: 3, tries: 4 }, { right: 1, tries: 4 })).toBeCloseTo(17 / 70, 12);
  expect(testFisher({ right: 0, tries: 5 }, { right: 5, tries: 5 })).toBeCloseTo(1, 12);
  expect(testFisher({ right: 0, tries: 0 }, { right: 0, tries: 5 })).toBe(1);
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
  expect(compareChances({ right: 0, tries: 0 }, { right: 1, tries: 1 })).toEqual({
    difference: 0,
    low: -1,
    high: 1,
  });
});
