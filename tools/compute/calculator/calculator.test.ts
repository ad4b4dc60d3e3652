import { describe, expect, test } from 'vitest';
import { calculator } from './calculator.ts';
import { normalizeNotation } from './notation.ts';

const place = {
  workspace: '/nowhere',
  files: undefined,
  store: undefined,
  environment: {},
  options: {},
  taskId: 't1',
  signal: new AbortController().signal,
};
const calculate = (expression: string) => calculator.run({ expression }, place);

describe('calculates (REQ-054, RA-43, SV-13)', () => {
  test.each([
    ['0.1 + 0.2', '0.3', 0.3],
    ['2 + 3 * 4 - 8 / 2', '10', 10],
    ['(17.5 + 3) * 2^10', '20992', 20992],
    ['-2^2', '-4', -4],
    ['2 ** 3', '8', 8],
    ['7 mod 3', '1', 1],
    ['1/3', '0.333333333333333', 0.333333333333333],
    ['1/3*3', '1', 1],
    ['123456789 * 987654321', '121932631112635269', '121932631112635269'],
    ['2^100', '1267650600228229401496703205376', '1267650600228229401496703205376'],
    ['12345678901.123 * 2', '24691357802.246', 24691357802.246],
    ['170!', '7.257415615308e306', '7.257415615308e306'],
    ['1e-400', '1e-400', '1e-400'],
    ['sqrt(3)', '1.73205080756888', 1.73205080756888],
    ['nthRoot(27, 3)', '3', 3],
    ['ln(e^2)', '2', 2],
    ['log10(1000) + log2(8) + log(81, 3)', '10', 10],
    ['exp(3)', '20.0855369231877', 20.0855369231877],
    ['sin(pi)', '0', 0],
    ['sin(30 deg)', '0.5', 0.5],
    ['atan(1) * 8', '6.28318530717959', 6.28318530717959],
    ['cos(60°)', '0.5', 0.5],
    ['gamma(2.5)', '1.32934038817914', 1.32934038817914],
    ['combinations(50, 25)', '126410606437752', 126410606437752],
    ['mean(3, 5, 10) + median(1, 2, 9)', '8', 8],
    ['std(2, 4, 4, 4, 5, 5, 7, 9)', '2.1380899352994', 2.1380899352994],
    ['sum(1:100)', '5050', 5050],
    ['det([1, 2; 3, 4])', '-2', -2],
    ['[1, 2; 3, 4] * [1; 1]', '[[3], [7]]', '[[3], [7]]'],
    ['sqrt(-4)', '2i', '2i'],
    ['e^(i * pi)', '-1', -1],
    ['3 > 2', 'true', 'true'],
  ])('%s = %s', async (expression, text, value) => {
    expect(await calculate(expression)).toEqual({ text, data: { value } });
  });

  test.each([
    ['3 miles to km', 4.828032, 'km'],
    ['100 degF to degC', 37.7777777777778, 'degC'],
    ['25 °C to °F', 77, 'degF'],
    ['5 ft 3 in to cm', 160.02, 'cm'],
    ['12 in to cm', 30.48, 'cm'],
    ['1 hour 30 minutes to minutes', 90, 'minutes'],
    ['60 mph to km/h', 96.56064, 'km/h'],
    ['10 knots to km/h', 18.52, 'km/h'],
    ['1 lightyear to km', 9460730472580.8, 'km'],
    ['200 cal to J', 836.8, 'J'],
    ['10 m / 2 s', 5, 'm/s'],
    ['2 kg * 3 m/s^2 to N', 6, 'N'],
    ['sqrt(16 m^2)', 4, 'm'],
  ])('%s = %d %s', async (expression, value, unit) => {
    expect(await calculate(expression)).toEqual({ text: `${value} ${unit}`, data: { value, unit } });
  });

  test.each([
    ['20% of 150', 30],
    ['10 + 5%', 10.5],
    ['100 - 20%', 80],
    ['1,234.5 × 2', 2469],
    ['(1,234 + 5) ÷ 3', 413],
    ['10 − 4', 6],
    ['3·4', 12],
    ['2³ + 5²', 33],
    ['√2 * √(2)', 2],
    ['2π / π', 2],
    ['2 + 2 = ?', 4],
    ['max(1,234)', 234],
    ['1,000,000 / 4', 250000],
  ])('common notation: %s = %d', async (expression, value) => {
    expect((await calculate(expression)).data).toEqual({ value });
  });
});

test.each([
  ['mean(1,234, 5,678)', 'mean(1,234, 5,678)'],
  ['[1,234]', '[1,234]'],
  ['f (1,234)', 'f (1,234)'],
  ['12,34', '12,34'],
  ['1,2345', '1,2345'],
  ['0.1,234', '0.1,234'],
  ['2 pi 3', '2 pi 3'],
  ['5 mod 3', '5 mod 3'],
  ['3 kg to 5', '3 kg to 5'],
])('notation leaves alone what could mean something else: %s', (expression, plain) => {
  expect(normalizeNotation(expression)).toBe(plain);
});

describe('what cannot be calculated is told (REQ-054)', () => {
  test.each([
    ['1/0', /infinite or too large/],
    ['log(0)', /infinite or too large/],
    ['0/0', /not defined/],
    ['tan(pi/2)', /not defined/],
    ['Infinity - Infinity', /not defined/],
    ['171!', /overflow/],
    ['9^9^9', /overflow/],
    ['9^9^9^9', /overflow/],
    ['exp(1000)', /overflow/],
    ['5 kg to km', /wrong unit/],
    ['3 m + 2 s', /wrong unit/],
    ['3 foos to km', /foos is not a number, constant or unit/],
    ['km', /not a quantity/],
    ['', /nothing to calculate/],
    ['2 +', /Unexpected end/],
    ['(2', /Parenthesis/],
    ['two plus two', /two is not a number/],
    ['cos', /not a number/],
    ['[1:10000]', /a list of \d+ characters/],
  ])('%s', async (expression, message) => {
    await expect(calculate(expression)).rejects.toMatchObject({
      code: 'tool',
      message: expect.stringMatching(message),
    });
  });
});

describe('nothing is run but calculations (RA-43)', () => {
  test.each([
    'import("fs")',
    'import({a: 1})',
    'createUnit("x")',
    'evaluate("1")',
    'parse("1")',
    'compile("1")',
    'parser()',
    'simplify("1")',
    'derivative("x^2", "x")',
    'reviver()',
    'config({})',
    'chain(1)',
    'typed({})',
    'map([1], cos)',
    'format(1)',
    'cos.constructor("return process")()',
    'cos.constructor',
    '"".constructor',
    '[1].map(cos)',
    'constructor',
    '__proto__',
    'toString()',
    'process',
    'globalThis',
    'f(x) = x',
    'a = 3',
    '{a: 1}',
    'a.b = 1',
    '"text"',
    '1; 2',
    '1\n2',
    '(cos)(1)(2)',
    'ones(1e5, 1e5)',
    'zeros(1e9)',
    'identity(1e5)',
    'range(1, 1e9)',
    'resize([1], [1e9])',
    'kron([1, 2], [3, 4])',
    '1:1e8',
    'sum(1:1e8)',
    '1:-1e-9:0',
    '1:0:2',
    '1:(1e8)',
    '1:2^40',
    'random()',
    '((x) = x)(1)',
  ])('%s is refused', async (expression) => {
    await expect(calculate(expression)).rejects.toMatchObject({ code: 'tool' });
    expect((await calculate('1 + 1')).text).toBe('2');
  });

  test('an expression has a largest length', () => {
    expect(calculator.input.safeParse({ expression: '1'.repeat(2_000) }).success).toBe(true);
    expect(calculator.input.safeParse({ expression: '1'.repeat(2_001) }).success).toBe(false);
  });

  test('parentheses as deep as can be written are calculated or refused', async () => {
    const outcome = await calculate(`${'('.repeat(999)}1${')'.repeat(999)}`).catch((error: unknown) => error);
    expect(outcome).toMatchObject(outcome instanceof Error ? { code: 'tool' } : { text: '1' });
  });
});
