import { expect, test } from 'vitest';
import { questionType } from './question-type.ts';

test.each([
  ['web', 'In the video https://www.youtube.com/watch?v=jNQXAC9IVRw, how many elephants are there?'],
  ['web', 'https://youtu.be/jNQXAC9IVRw: what is 3 plus the number of people in it?'],
  ['web', 'Who won the Nobel Prize in Physics in 1978?'],
  ['web', 'How many studio albums did the singer publish between 2000 and 2009?'],
  ['web', 'What is data.xlsx about, according to Wikipedia?'],
  ['web', 'Which country had the fewest athletes at the 1928 Olympics?'],
  ['code', 'Write a Python function that sorts a list.'],
  ['code', 'What is the output of the following algorithm?'],
  ['code', 'How many times does the letter s occur in "Mississippi"?'],
  ['code', 'How many prime numbers are below 500?'],
  ['code', 'White moves in 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1. Which move wins?'],
  ['math', 'What is 12 * 7?'],
  ['math', 'Convert 5 miles to kilometres.'],
  ['math', 'A farmer has 17 sheep and all but 9 run away. How many are left?'],
  ['math', 'Solve for x: 2x + 3 = 11'],
])('%s: %s (SV-07)', (type, question) => {
  expect(questionType(question)).toBe(type);
});
