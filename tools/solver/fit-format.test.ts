import { describe, expect, test } from 'vitest';
import { fitFormat } from './fit-format.ts';

test.each([
  ['How many apples were sold?', '1,234 apples', '1234'],
  ['How many apples were sold?', 'twenty-five apples', '25'],
  ['How many people live there?', '2.5 million', '2500000'],
  ['How many thousand hours did it take?', '17 thousand', '17'],
  ['How much did it cost, in dollars?', '$1,234.50', '1234.50'],
  ['How long is it in kilometres?', '40 km (25 miles)', '40'],
  ['What is the total?', 'The total is 15.', '15'],
  ['What is the difference in degrees?', '−5', '-5'],
  ['How tall is he?', '5 feet 11 inches', '5 feet 11 inches'],
  ['What is the phone number?', '0555 018 347', '0555 018 347'],
  ['How much was it? Include the currency symbol.', '$1,234', '$1,234'],
])('%s %j → %j: a number is asked for (OV-07)', (question, answer, fitted) => {
  expect(fitFormat(question, answer)).toBe(fitted);
});

test.each([
  ['What is it, rounded to two decimal places?', '30.39872', '30.40'],
  ['Round your answer to the nearest whole number. How many are there?', '153.938', '154'],
  ['To the nearest hundred, how many are there?', '12,345', '12300'],
  ['Give it to 3 significant figures.', '0.0123456', '0.0123'],
  ['What is that in kilograms, to two decimals?', '1.005', '1.01'],
  ['Which town is nearest?', 'Hamar', 'Hamar'],
])('%s %j → %j: rounding is asked for (OV-07)', (question, answer, fitted) => {
  expect(fitFormat(question, answer)).toBe(fitted);
});

test.each([
  ['Give a comma separated list.', 'a; b and c', 'a, b, c'],
  ['Answer with a comma-separated list without spaces.', 'a, b, c', 'a,b,c'],
  ['List them in alphabetical order, separated by commas.', '[pear, Apple, fig]', 'Apple, fig, pear'],
  ['Comma separated, in ascending order.', '10, 9, 2', '2, 9, 10'],
  ['Semicolon separated, please.', 'a, b', 'a; b'],
  ['Give a comma separated list.', '- a\n- b', 'a, b'],
])('%s %j → %j: a list is asked for (OV-07)', (question, answer, fitted) => {
  expect(fitFormat(question, answer)).toBe(fitted);
});

describe('other forms', () => {
  test.each([
    ['When was it? Use the format MM/DD/YY.', '4 March 2021', '03/04/21'],
    ['When was it? Answer as YYYY-MM-DD.', 'March 4, 2021', '2021-03-04'],
    ['In which year was it opened?', '8 September 1954', '1954'],
    ['Is the king in check?', 'yes, by the rook', 'Yes'],
    ['Who was it? Give the last name only.', 'Philippa Dunmore', 'Dunmore'],
    ['Who was it? Give only the first name.', 'Philippa Dunmore', 'Philippa'],
    ['Where is it? Just the city name without the country.', 'Turku, Finland', 'Turku'],
    ['What is it called, without articles?', 'The Lark', 'Lark'],
    ['Write it in capital letters: what is the code?', 'abc', 'ABC'],
    ['Who designed it?', 'The Brill Institute', 'The Brill Institute'],
  ])('%s %j → %j (OV-07)', (question, answer, fitted) => {
    expect(fitFormat(question, answer)).toBe(fitted);
  });
});
