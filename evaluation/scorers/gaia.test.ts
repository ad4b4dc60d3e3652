import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isGaiaCorrect } from './gaia.ts';
import { anyText } from './testing/any-text.ts';
import { sharedVectors } from './testing/shared-vectors.ts';

/** The official scorer's stand-in for "no answer", which findScorer('gaia') has, too. */
const GAIA_NO_ANSWER = 'None';

const vectors = sharedVectors(
  'gaia/scorer_vectors.jsonl',
  z.object({
    id: z.string(),
    model_answer: z.string().nullable(),
    ground_truth: z.string(),
    expected: z.boolean(),
  }),
);

it.skipIf(vectors.length === 0)('gives the verdict of the official code on the shared vectors', () => {
  const differing = vectors.filter(
    ({ model_answer, ground_truth, expected }) =>
      isGaiaCorrect(model_answer ?? GAIA_NO_ANSWER, ground_truth) !== expected,
  );
  expect(differing).toEqual([]);
});

/** What is right and what is wrong, by truth. */
const verdicts: Record<string, Record<string, { right: string[]; wrong: string[] }>> = {
  'a truth that is a number': {
    '17': {
      right: ['17', ' 17\n', '17.0', '+17', '1.7e1', '17%', '$17', '1,7', '1$7', '17,', '1_7', '１７', '١٧'],
      wrong: ['-17', '17;', '17 km', '(17)', '€17', 'seventeen', '', '17\u001c', '\ufeff17', '0x11'],
    },
    '1234.5': { right: ['$1,234.50', '1,2,3,4.5'], wrong: ['1 234.5', "1'234.5", '1234,5'] },
    '0.1': { right: ['.1', '1e-1'], wrong: ['0.10000000000000002'] },
    '9007199254740992': { right: ['9007199254740993'], wrong: ['9007199254740994'] },
    '１７': { right: ['17'], wrong: ['18'] },
  },
  'a truth that is not finite': {
    inf: { right: ['Infinity', '1e999', 'banana', '', GAIA_NO_ANSWER], wrong: ['-inf', '12', 'nan'] },
    '-Infinity': { right: ['-inf', '-1e999'], wrong: ['banana', 'inf'] },
    nan: { right: [], wrong: ['nan', 'NaN', '0', 'banana', GAIA_NO_ANSWER] },
  },
  'a truth that is a list': {
    'apple, pear; plum': {
      right: ['Apple;Pear;Plum', 'app le,pear ,\u0085plum'],
      wrong: [
        'pear, apple, plum',
        'apple, pear',
        'apple, pear, plum,',
        'apple, pear, and plum',
        '[apple, pear, plum]',
        'apple、pear、plum',
        'apple,, plum',
        GAIA_NO_ANSWER,
      ],
    },
    'St. Petersburg, x': { right: ['st.petersburg,X'], wrong: ['St Petersburg, x', 'St. Petersburg., x'] },
    '1, two': { right: ['1.0, Two', '$1, two', '1%,two'], wrong: ['one, two', '1, 2'] },
    '1,000': { right: ['1,0', '1;000', '1,000'], wrong: ['1000', '1,001'] },
    '10%, 5': { right: ['10 %, 5.0'], wrong: ['10, 5', '10.0%, 5'] },
    'inf, nan': { right: [], wrong: ['inf, nan'] },
    'x, inf': { right: ['x, y', 'x,'], wrong: ['x, 1'] },
    ',': { right: [',', ' ; '], wrong: ['', 'a,b', ',,'] },
  },
  'a truth that is text': {
    'U.S.A.': { right: ['usa', 'u s a', '(USA)'], wrong: ['US', 'the USA', 'ＵＳＡ'] },
    'sea gull': { right: ['seagull', 'Sea-Gull!', 'sea\u001cgull'], wrong: ['sea\u200bgull', 'a sea gull'] },
    '50%': { right: ['50', '5.0', '5 0'], wrong: ['50.0', '0.5'] },
    $1000: { right: ['1000', '10.00', '$1,000'], wrong: ['1000.0'] },
    three: { right: ['THREE'], wrong: ['3'] },
    // The sigma at the end is final only once the white space and before the punctuation is gone.
    'ΟΔΟΣ Α': { right: ['οδοσα'], wrong: ['οδοςα'] },
    αθηνας: { right: ['ΑΘΗΝΑΣ', 'ΑΘΗΝΑΣ.'], wrong: ['αθηνασ'] },
    'caf\u00e9': { right: ['CAF\u00c9'], wrong: ['cafe\u0301', 'cafe'] },
    straße: { right: ['Straße'], wrong: ['STRASSE'] },
    "it's": { right: ['its', 'it s'], wrong: ['it’s'] },
  },
  'a truth without letters': {
    '...': { right: ['!!!', '', ' '], wrong: ['a', GAIA_NO_ANSWER, '…'] },
    '': { right: ['', '?!'], wrong: ['a', GAIA_NO_ANSWER] },
    None: { right: [GAIA_NO_ANSWER, 'none.', 'n one'], wrong: ['', 'null'] },
  },
};

describe.each(Object.entries(verdicts))('%s', (_kind, byTruth) => {
  it.each(Object.entries(byTruth))('%j', (truth, { right, wrong }) => {
    expect(right.filter((answer) => !isGaiaCorrect(answer, truth))).toEqual([]);
    expect(wrong.filter((answer) => isGaiaCorrect(answer, truth))).toEqual([]);
  });
});

it('finds every truth right for itself, except where it is not a number', () => {
  const text = fc.oneof(anyText, fc.stringMatching(/^[0-9a-z,;.$% -]*$/));
  fc.assert(fc.property(text, (truth) => isGaiaCorrect(truth, truth) || /nan/i.test(truth)));
});
