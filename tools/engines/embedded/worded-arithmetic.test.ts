import { expect, test } from 'vitest';
import { findCalculation } from './worded-arithmetic.ts';

test.each([
  ['What is 12 % of 350?', '12 / 100 * 350'],
  [
    'You put 1,500 euros into an account at 4 percent compound interest. What is it worth after 6 years?',
    '1500 * (1 + 4 / 100)^6',
  ],
  ['How many miles are 42 kilometres?', '42 km to mi'],
  ['Convert 90 km per hour to metres per second.', '90 km/hour to m/second'],
  ['How many days are there between 1 March 2024 and 15 March 2024?', 'abs(19797 - 19783)'],
  ['What is 100 modulo 7?', 'mod(100, 7)'],
])('%s', (question, expression) => {
  expect(findCalculation(question)?.expression).toBe(expression);
});

test('results become answers: rounded, as dates, weekdays and in other bases', () => {
  const answer = (question: string, result: string) => findCalculation(question)?.toAnswer(result);
  expect(answer('How many miles are 42 km, rounded to two decimal places?', '26.097590073967 mi')).toBe(
    '26.10',
  );
  expect(answer('On which day of the week was 1 January 1970?', '4')).toBe('Thursday');
  expect(answer('Which date is 30 days after 1 January 1970?', '30')).toBe('31 January 1970');
  expect(answer('Write 500 in hexadecimal.', '500')).toBe('1F4');
});

test.each([
  'What percentage of the 12 members voted?',
  'What is 12 % of 350 if 3 are missing?',
  'How many days did the trip of 2019 take?',
  'Who won on 3 May 1998?',
])('%s is no calculation: something is left over', (question) => {
  expect(findCalculation(question)).toBeUndefined();
});
