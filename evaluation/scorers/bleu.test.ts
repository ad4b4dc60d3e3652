import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findScorer, tokenizeBleu } from './scorer.ts';
import { anyText } from './testing/any-text.ts';

const scorer = findScorer('bleu');
const scoreSentenceBleu = (prediction: string, truth: string) =>
  scorer.score(prediction, [truth]).bleu ?? Number.NaN;

describe('13a tokens', () => {
  it.each([
    ['1,000', '1,000'],
    ['a,b', 'a , b'],
    ['3.5%', '3.5 %'],
    ['1.,2', '1 . , 2'],
    ['x.5', 'x . 5'],
    ['$5.', '$ 5 .'],
    ['U.S.', 'U . S .'],
    ["don't", "don't"],
    ['e-mail', 'e-mail'],
    ['1990-1995', '1990 - 1995'],
    ['(a/b_c)', '( a / b _ c )'],
    ['&quot;x&quot;', '" x "'],
    ['&amp;lt;', '<'],
    ['well-\nknown', 'wellknown'],
    ['well-\n', 'well-'],
    ['two\nlines', 'two lines'],
    ['<skipped>a', 'a'],
    ['“q”—…', '“q”—…'],
    ['😀.5,', '😀 . 5 ,'],
    ['a\u001cb\u3000c', 'a b c'],
    ['', ''],
  ])('of %j are %j', (text, expected) => {
    expect(tokenizeBleu(text).join(' ')).toBe(expected);
  });
});

// The rules of mteval-v13a, for each character of ASCII that is neither a letter nor a digit.
it.each(
  Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter((mark) =>
    /[^A-Za-z0-9]/.test(mark),
  ),
)('the mark %s stands alone unless it joins words or numbers', (mark) => {
  const isApart = !"',-.".includes(mark);
  expect(tokenizeBleu(`a${mark}b`)).toEqual(
    isApart || ',.'.includes(mark) ? ['a', mark, 'b'] : [`a${mark}b`],
  );
  expect(tokenizeBleu(`1${mark}2`)).toEqual(isApart || mark === '-' ? ['1', mark, '2'] : [`1${mark}2`]);
  expect(tokenizeBleu(`a${mark}`)).toEqual(isApart || ',.'.includes(mark) ? ['a', mark] : [`a${mark}`]);
  expect(tokenizeBleu(`${mark}1`)).toEqual(isApart || ',.'.includes(mark) ? [mark, '1'] : [`${mark}1`]);
});

// The counts, by n from 1 to 4, are matches/n-grams of the prediction; where none match, the k-th such order
// counts as (1/2^k)/n-grams. Orders that the prediction is too short for are left out of the mean.
describe('by the definition', () => {
  const mean = (...precisions: number[]) =>
    100 * precisions.reduce((product, p) => product * p, 1) ** (1 / precisions.length);

  it.each([
    ['a text with itself', 'the cat sat on the mat', 'the cat sat on the mat', 100],
    ['a single word', 'Oslo', 'Oslo', mean(1 / 1)],
    ['no word in common', 'Oslo', 'Bergen', 0],
    ['another case', 'oslo', 'Oslo', 0],
    // Two of seven: the truth has `the` twice. Then 0/6, 0/5, 0/4.
    [
      'a repeated word',
      'the the the the the the the',
      'the cat is on the mat',
      mean(2 / 7, 1 / 2 / 6, 1 / 4 / 5, 1 / 8 / 4),
    ],
    // 1/3 shorter than the truth: exp(1 - 3/2).
    ['a short prediction', 'New York', 'New York City', Math.exp(1 - 3 / 2) * mean(2 / 2, 1 / 1)],
    ['a long prediction', 'in the city of New York', 'New York', mean(2 / 6, 1 / 5, 1 / 2 / 4, 1 / 4 / 3)],
    [
      'both',
      'the cat is on the mat',
      'there is a cat on the mat',
      Math.exp(1 - 7 / 6) * mean(5 / 6, 2 / 5, 1 / 4, 1 / 2 / 3),
    ],
    ['entities', '&quot;Yes&quot; &amp; no', '"Yes" & no', 100],
    ['the reverse', 'a b c d e f g h', 'h g f e d c b a', mean(8 / 8, 1 / 2 / 7, 1 / 4 / 6, 1 / 8 / 5)],
    ['a pair twice that the truth has once', 'a b a b', 'a b', mean(2 / 4, 1 / 3, 1 / 2 / 2, 1 / 4 / 1)],
    // `ab c` and `a bc` are the same letters and other words.
    ['other words of the same letters', 'ab c', 'a bc ab', Math.exp(1 - 3 / 2) * mean(1 / 2, 1 / 2 / 1)],
    ['no prediction', '', 'Oslo', 0],
    ['neither', '', '', 0],
  ])('%s', (_case, prediction, truth, expected) => {
    expect(scoreSentenceBleu(prediction, truth)).toBeCloseTo(expected, 9);
  });
});

// What sacreBLEU 2.6.0 prints for `sentence_bleu(prediction, [truth]).score`.
it.each([
  ['the the the the the the the', 'the cat is on the mat', 7.809849842300637],
  ['the cat is on the mat', 'there is a cat on the mat', 29.05925408079185],
  ['New York', 'New York City', 60.653065971263366],
  ['in the city of New York', 'New York', 16.233395773754953],
  ['It cost $1,000.50 in the U.S. market.', 'It cost $1,000.50 in the U.S.', 80.70557274927978],
  ["don't stop", 'do not stop', 30.326532985631665],
  ['1990-1995', '1990 - 1995', 100],
  ['Red Fort Delhi', 'Red Fort, Delhi', 45.13864405503391],
  ['大阪 Osaka', 'Osaka', 49.99999999999999],
  ['a b c d', 'a x c y', 18.99589214128981],
  ['...', '...', 100],
])('agrees with sacreBLEU on %j against %j', (prediction, truth, expected) => {
  expect(scoreSentenceBleu(prediction, truth)).toBeCloseTo(expected, 9);
});

it('stays within 0 and 100, and is 100 for a text with itself if it has a token', () => {
  const text = fc.oneof(
    anyText,
    fc.array(fc.constantFrom('the', 'cat', '1,0', 'U.S.')).map((words) => words.join(' ')),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      const score = scoreSentenceBleu(a, b);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(100);
      expect(scoreSentenceBleu(a, a)).toBeCloseTo(tokenizeBleu(a).length === 0 ? 0 : 100, 9);
    }),
  );
});
