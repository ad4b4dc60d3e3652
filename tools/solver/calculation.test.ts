import { afterAll, describe, expect, test } from 'vitest';
import { calculate, readCalculation } from './calculation.ts';
import { toolsInProcess } from './testing/in-process.ts';
import { Workings } from './workings.ts';

const tools = toolsInProcess();
const use = tools.toolsFor('calculation', '');
afterAll(() => tools.close());

async function answerTo(question: string): Promise<string | null> {
  const reading = readCalculation(question);
  return reading === undefined
    ? 'not understood'
    : (await calculate(question, reading, new Workings(use))).answer;
}

describe('calculations in words and signs (REQ-011, REQ-054)', () => {
  test.each([
    ['What is 23 times 47?', '1081'],
    ['Evaluate 3 + 4 * 2 / (1 - 5)^2.', '3.5'],
    ['What is 12 x 13 − 7?', '149'],
    ['What is the square root of 144 plus the cube of 4?', '76'],
    ['What is the product of 3 and 4 plus 2?', '14'],
    ['Divide the sum of 18 and 24 by 7.', '6'],
    ['Subtract the sum of 12 and 8 from 50.', '30'],
    ['What is half of three quarters of 80?', '30'],
    ['What is the remainder of 1000 divided by 7?', '6'],
    ['What is 10 less than 25?', '15'],
    ['What is log base 2 of 1024?', '10'],
    ['What is the sine of 30 degrees?', '0.5'],
    ['What is 7 factorial?', '5040'],
    ['What is 2 to the 16th power?', '65536'],
    ['What is the natural logarithm of 10, rounded to three decimal places?', '2.303'],
    ['What is the least common multiple of 12 and 18?', '36'],
  ])('%s → %s', async (question, answer) => {
    expect(await answerTo(question)).toBe(answer);
  });
});

describe('puzzles of several steps are solved one after the other (REQ-059)', () => {
  test.each([
    ['Start with 5, double it, add 3, then square it. What do you get?', '169'],
    ['I think of 7, add 5 and multiply the result by 3. What is it?', '36'],
    ['Add 12 and 30, then divide by 6.', '7'],
    ['A laptop costs $900. It is reduced by 10%, then by a further 5%. What is the final price?', '769.5'],
  ])('%s → %s', async (question, answer) => {
    expect(await answerTo(question)).toBe(answer);
  });
});

describe('percentages', () => {
  test.each([
    ['What is 10% of 20% of 500?', '10'],
    ['What percentage of 240 is 36?', '15'],
    ['12 is what percent of 48?', '25'],
    ['A price rose from $40 to $52. By what percentage did it increase?', '30'],
    ['After a 20% discount a coat costs $80. What was its original price?', '100'],
    ['The bill is $64. How much is a 15% tip?', '9.6'],
    ['The bill is $64. What is the total with a 15% tip?', '73.6'],
    ['If I have $250 and spend 40% of it, how much is left?', '150'],
    ['$1000 is invested at 5% per year, compounded annually, for 3 years. What is it worth?', '1157.625'],
  ])('%s → %s', async (question, answer) => {
    expect(await answerTo(question)).toBe(answer);
  });
});

describe('units, rates and shapes (REQ-054)', () => {
  test.each([
    ['How many seconds are in a week?', '604800'],
    ['What is 5 feet 11 inches in centimetres?', '180.34'],
    ['Convert 98.6 degrees Fahrenheit to Celsius.', '37'],
    ['How long, in hours, does it take to drive 420 km at 80 km/h?', '5.25'],
    ['How far does a train get in 45 minutes at 120 km/h?', '90'],
    [
      'A tap fills 12 litres a minute. How many minutes does it take to fill a tank of 1.5 cubic metres?',
      '125',
    ],
    ['Potatoes are $3.20 per kilo. How much do 4.5 kg cost?', '14.4'],
    [
      'A baker uses 3/4 of a cup of honey for one loaf. How many cups of honey are needed for 26 loaves?',
      '19.5',
    ],
    ['Each box holds 12 pencils. How many boxes are needed for 180 pencils?', '15'],
    ['If 8 pencils cost $2.40, how much do 3 pencils cost?', '0.9'],
    ['Six friends share a bill of $138 equally. How much does each pay?', '23'],
    ['A right triangle has legs of 9 cm and 12 cm. How long is its hypotenuse?', '15'],
    ['What is the circumference of a circle with radius 5 m, to two decimal places?', '31.42'],
    ['A garden is 12 m long and 7.5 m wide. What is its area in square metres?', '90'],
  ])('%s → %s', async (question, answer) => {
    expect(await answerTo(question)).toBe(answer);
  });
});

describe('days, bases and whole numbers', () => {
  test.each([
    ['If today is Thursday, what day of the week will it be 100 days from now?', 'Saturday'],
    ['What day of the week was 20 July 1969?', 'Sunday'],
    ['Which date is 90 days after March 3, 2024?', '1 June 2024'],
    ['How many days are there from 28 February 2023 to 1 March 2023, both included?', '2'],
    ['How many leap years were there between 1900 and 2000?', '25'],
    ['A train leaves at 9:40 and arrives at 14:05. How many minutes does the journey take?', '265'],
    ['What is 48879 in hexadecimal?', 'BEEF'],
    ['Convert the hexadecimal number FF to decimal.', '255'],
    ['What is the Roman numeral MCMXCIV as a number?', '1994'],
    ['What is the 20th Fibonacci number?', '6765'],
    ['What is the sum of all multiples of 3 or 5 below 1000?', '233168'],
    ['What is the largest prime factor of 600851475143?', '6857'],
    ['How many zeros are at the end of 100 factorial?', '24'],
  ])('%s → %s', async (question, answer) => {
    expect(await answerTo(question)).toBe(answer);
  });
});

test.each([
  'Who won 3 medals in the 2004 Olympics?',
  'Of the 14 songs on the album, how many are longer than 4 minutes?',
  'A box has 3 apples and 4 pears. How many are red?',
  'If x = 5, what is 3x + 2?',
  'A square has a perimeter of 36 cm. What is its area?',
  'How many of the 50 states have two senators?',
])('what is not understood whole is not guessed: %s', async (question) => {
  expect(await answerTo(question)).toBe('not understood');
});

test('a calculator that cannot leaves no answer, and the reasoning says why', async () => {
  const failing = new Workings(async () => ({ error: { code: 'tool', message: 'the result is infinite' } }));
  const solution = await calculate('What is 1 / 0?', { why: 'A division.', expression: '1 / 0' }, failing);
  expect(solution.answer).toBeNull();
  expect(solution.reasoning).toContain('the result is infinite');
  expect(solution.steps).toEqual([
    { tool: 'calculator', arguments: { expression: '1 / 0' }, result: 'the result is infinite' },
  ]);
});
