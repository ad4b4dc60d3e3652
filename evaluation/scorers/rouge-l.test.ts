import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { findScorer } from './scorer.ts';
import { anyText } from './testing/any-text.ts';
import { sharedVectors } from './testing/shared-vectors.ts';

const scorer = findScorer('exact_rouge');
const scoreRougeL = (prediction: string, truth: string) =>
  scorer.score(prediction, [truth]).rouge_l ?? Number.NaN;

const vectors = sharedVectors(
  'rouge_vectors.jsonl',
  z.object({ candidate: z.string(), reference: z.string(), rougeL: z.number() }),
);

it.skipIf(vectors.length === 0)('agrees with the reference implementation on the shared vectors', () => {
  for (const { candidate, reference, rougeL: expected } of vectors) {
    expect(scoreRougeL(candidate, reference), JSON.stringify([candidate, reference])).toBeCloseTo(
      expected,
      9,
    );
  }
});

it.each([
  // prediction, truth, 2 × matches / words of both
  ['Oslo', 'Oslo', 1],
  ['OSLO!', 'oslo', 1],
  ['the Red Fort', 'Red Fort', (2 * 2) / 5],
  ['x y z', 'z y x', (2 * 1) / 6],
  ['w x w', 'w w', (2 * 2) / 5],
  ['One two. Three four.', 'Three four. One two.', (2 * 2) / 8],
  ['up-to-date', 'up to date', 1],
  ["can't", 'cant', 0],
  ['2,500', '2 500', 1],
  ['2,500', '2500', 0],
  ['Malmö', 'Malm', (2 * 1) / 2],
  ['大阪 Osaka', 'Osaka', 1],
])('scores %j against %j as %d', (prediction, truth, expected) => {
  expect(scoreRougeL(prediction, truth)).toBeCloseTo(expected, 12);
});

it('is 0 where a side has no ASCII letter or digit, equal or not', () => {
  for (const wordless of ['', ' \n\t', '***', 'Київ', '\0', '\ud800', '\u0085']) {
    expect(scoreRougeL(wordless, 'Oslo')).toBe(0);
    expect(scoreRougeL('Oslo', wordless)).toBe(0);
    expect(scoreRougeL(wordless, wordless)).toBe(0);
  }
});

const words = fc.array(fc.constantFrom('a', 'b', 'c', '1', 'naïve', '-'), { maxLength: 12 });
const text = fc.oneof(
  words.map((list) => list.join(' ')),
  anyText,
);

it('is the F-measure of the longest common subsequence, found by trying all of them (MP-63)', () => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(list, list, (a, b) => {
      const expected = (2 * longestCommonSubsequence(a, b)) / (a.length + b.length);
      expect(scoreRougeL(a.join(' '), b.join(', '))).toBeCloseTo(expected, 12);
    }),
  );
});

it('stays within 0 and 1 and does not depend on the order of the two', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const score = scoreRougeL(a, b);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
      expect(scoreRougeL(b, a)).toBeCloseTo(score, 12);
    }),
  );
});

it('compares as many words as it says, and counts the others as not matched', () => {
  const most = 2000;
  const long = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');
  const atBound = long(most);
  const pastBound = long(most + 1);

  expect(scoreRougeL(`${atBound}.`, atBound)).toBe(1);
  expect(scoreRougeL(`${pastBound}.`, pastBound)).toBeCloseTo(most / (most + 1), 12);
  expect(scoreRougeL(pastBound, pastBound)).toBe(1);
  // Padding behind the right words lowers the score as it does below the bound.
  expect(scoreRougeL(`Oslo ${long(9 * most)}`, 'Oslo')).toBeCloseTo(2 / (9 * most + 2), 12);
});

it('scores long texts by all their words, whichever side is longer', () => {
  const words = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `w${from + index}`).join(' ');
  // The first 2,000 words of each are compared: 2 × matches / words of both.
  expect(scoreRougeL(words(0, 2000), words(0, 2500))).toBeCloseTo((2 * 2000) / 4500, 12);
  expect(scoreRougeL(words(0, 2500), words(0, 2000))).toBeCloseTo((2 * 2000) / 4500, 12);
  expect(scoreRougeL(words(1000, 3000), words(0, 2500))).toBeCloseTo((2 * 1000) / 5500, 12);
  // Words behind the bound match nothing, even where both have them.
  expect(scoreRougeL(words(0, 2010), `x ${words(0, 2010)}`)).toBeCloseTo((2 * 1999) / 4021, 12);
});

it('takes long texts for equal whatever is around them, and only those', () => {
  const long = 'word '.repeat(2500).trim();
  expect(scoreRougeL(` \n${long}\t`, long)).toBe(1);
  expect(scoreRougeL(long, `\t${long} \n`)).toBe(1);
  expect(scoreRougeL(`${long}!`, long)).toBeCloseTo(2000 / 2500, 12);
});

it.each([
  // One word against one, repeated words, and words that differ in case or length alone.
  ['a', 'b', 0],
  ['a', 'a b', (2 * 1) / 3],
  ['a a a', 'a', (2 * 1) / 4],
  ['a a a', 'a a', (2 * 2) / 5],
  ['a b a b', 'b a b a', (2 * 3) / 8],
  ['a B c', 'A b C', 1],
  ['ab', 'a b', 0],
  ['10 11 12', '12 11 10', (2 * 1) / 6],
  ['az09', 'AZ09', 1],
  ['a_b', 'a b', 1],
  ['a b c d e f g h i j k l', 'k', (2 * 1) / 13],
])('counts the words of %j and %j: %d', (prediction, truth, expected) => {
  expect(scoreRougeL(prediction, truth)).toBeCloseTo(expected, 12);
  expect(scoreRougeL(truth, prediction)).toBeCloseTo(expected, 12);
});

it('takes bounded time where answer and truth are long, and their words too', () => {
  const shortWords = 'ab '.repeat(350_000);
  const longWords = `${'x'.repeat(500)} `.repeat(2000);
  const startMs = cpuMs();
  scoreRougeL(shortWords, `${shortWords}c`);
  scoreRougeL(longWords, `${longWords}c`);
  // Half a second here; without the bounds, hours.
  expect(cpuMs() - startMs).toBeLessThan(10_000);
});

function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number {
  const [head, ...rest] = a;
  if (head === undefined) return 0;
  const at = b.indexOf(head);
  const without = longestCommonSubsequence(rest, b);
  return at === -1 ? without : Math.max(without, 1 + longestCommonSubsequence(rest, b.slice(at + 1)));
}
