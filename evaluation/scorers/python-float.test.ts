import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePythonFloat } from './python-float.ts';

it.each([
  ['17', 17],
  ['+17', 17],
  ['-0', -0],
  ['.5', 0.5],
  ['5.', 5],
  ['1.5e3', 1500],
  ['1E-2', 0.01],
  ['5.e1', 50],
  ['1_000', 1000],
  ['1_0.0_1e1_0', 10.01e10],
  ['007', 7],
  ['1e999', Number.POSITIVE_INFINITY],
  ['9007199254740993', 9007199254740992],
  ['inf', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['+NaN', Number.NaN],
  ['１７', 17],
  ['١٧', 17],
  ['१_७', 17],
  ['𝟏𝟡', 19],
  [' \t\u000b17\r\n', 17],
  ['\u0085\u00a017\u2003\u3000', 17],
])('reads %j as %d', (text, expected) => {
  expect(parsePythonFloat(text)).toBe(expected);
});

it.each([
  '',
  ' ',
  '.',
  '+',
  'e5',
  '1e',
  '1e+',
  '1.2.3',
  '--1',
  '0x10',
  '0b1',
  '1,000',
  '$5',
  '50%',
  '1 000',
  '+ 1',
  '5 km',
  '½',
  '²',
  'Ⅷ',
  '−5',
  '_1',
  '1_',
  '1__0',
  '1_.5',
  '1._5',
  '1_e5',
  '1e_5',
  'i_nf',
  'infinit',
  'ınf',
  'nan(1)',
  '1n',
  '17\u001c',
  '\u001f17',
  '17\u200b',
  '\ufeff17',
  '1\0',
  '\ud835',
])('reads no number in %j', (text) => {
  expect(parsePythonFloat(text)).toBeUndefined();
});

it('reads back every number that JavaScript writes', () => {
  fc.assert(fc.property(fc.double().map(String), (text) => Object.is(parsePythonFloat(text), Number(text))));
});

it.each([
  ['digits', '1'.repeat(1e6)],
  ['underscores', '1_'.repeat(5e5)],
  ['white space before', `${'\u3000'.repeat(1e6)}1`],
  ['white space inside', `1${' '.repeat(1e6)}x`],
  ['fullwidth digits', '１'.repeat(1e6)],
  ['an exponent', `${'1'.repeat(5e5)}e${'1'.repeat(5e5)}x`],
])('takes linear time on a million characters: %s', (_case, text) => {
  const startMs = cpuMs();
  parsePythonFloat(text);
  // Under a second; a quadratic pattern takes minutes.
  expect(cpuMs() - startMs).toBeLessThan(10_000);
});
