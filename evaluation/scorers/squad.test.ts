import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeAnswer, scoreSquadEm, scoreSquadF1 } from './squad.ts';
import { anyText } from './testing/any-text.ts';

describe('normalisation', () => {
  it.each([
    ['The Red Fort!', 'red fort'],
    ['  a   man,  an ape,\tthe end ', 'man ape end'],
    ["don't", 'dont'],
    ['U.S.', 'us'],
    ['1,000', '1000'],
    // Punctuation goes first, so articles are looked for in what it leaves.
    ['the-end', 'theend'],
    ['a.m.', 'am'],
    ['theatre', 'theatre'],
    // Only ASCII punctuation, and no article inside a word of another alphabet.
    ['“the” end…', '“ ” end…'],
    ['añejo áan aé', 'añejo áan aé'],
    ['a٣ a_', 'a٣'],
    // What Python takes for white space, and the byte order mark, which it does not.
    ['x\u001cy\u0085z\u3000', 'x y z'],
    ['\ufeffx', '\ufeffx'],
    ['the', ''],
  ])('of %j is %j', (text, expected) => {
    expect(normalizeAnswer(text)).toBe(expected);
  });

  it('changes nothing the second time', () => {
    const word = fc.constantFrom(
      'the',
      'a',
      'Oslo',
      'th-e',
      'U.S.',
      "don't",
      '“q”',
      '1,000',
      'ΟΔΟΣ',
      'añejo',
    );
    const text = fc.oneof(
      anyText,
      fc.array(word).map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(text, (value) => normalizeAnswer(normalizeAnswer(value)) === normalizeAnswer(value)),
    );
  });
});

it('matches exactly what is equal after normalisation', () => {
  expect(scoreSquadEm('The Beatles.', 'beatles')).toBe(1);
  expect(scoreSquadEm('Beatles band', 'beatles')).toBe(0);
  expect(scoreSquadEm('the', 'a')).toBe(1);
});

it.each([
  // prediction, truth, 2 × shared words / words of both
  ['the cat sat', 'cat', (2 * 1) / 3],
  ['cat cat cat', 'cat cat', (2 * 2) / 5],
  ['sat cat', 'cat sat', 1],
  ['dog', 'cat', 0],
  ['', 'cat', 0],
  // As in the script, although it is an exact match.
  ['the', 'a', 0],
])('gives %j against %j an F1 of %d', (prediction, truth, expected) => {
  expect(scoreSquadF1(prediction, truth)).toBeCloseTo(expected, 12);
});

it('stays within 0 and 1, is symmetric, and is 1 for a text with itself if it has a word', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      const f1 = scoreSquadF1(a, b);
      expect(f1).toBeGreaterThanOrEqual(0);
      expect(f1).toBeLessThanOrEqual(1);
      expect(scoreSquadF1(b, a)).toBe(f1);
      expect(scoreSquadEm(a, a)).toBe(1);
      expect(scoreSquadF1(a, a)).toBe(normalizeAnswer(a) === '' ? 0 : 1);
    }),
  );
});
