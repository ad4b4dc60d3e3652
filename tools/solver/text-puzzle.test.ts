import { expect, test } from 'vitest';
import { fitFormat } from './fit-format.ts';
import { readPuzzle } from './text-puzzle.ts';

test.each([
  ['How many times does the letter r appear in the word strawberry?', '3'],
  ['How many vowels are there in the word onomatopoeia?', '8'],
  ['How many words are in the sentence "I have never seen such a bird before"?', '8'],
  ['Write the word "lighthouse" backwards.', 'esuohthgil'],
  ['What is the second letter of the fourth word in "We went to market early"?', 'a'],
  ['What is the longest word in the sentence "My umbrella broke yesterday"?', 'yesterday'],
  ['Reverse the order of the words in "come here now".', 'now here come'],
  ['Sort the following words alphabetically: pear, apple, fig, banana', 'apple, banana, fig, pear'],
  ['Which of these words is the longest: cat, elephant, dog?', 'elephant'],
  ['Which of these words is a palindrome: river, level, stone, house?', 'level'],
  ['Which of these is an anagram of "listen": enlist, tinsel, lister, stolen?', 'enlist, tinsel'],
  ['What do the initial letters of Saturn, Uranus, Neptune spell?', 'sun'],
  ['Decode this message, which was encrypted with ROT13: Uryyb jbeyq', 'Hello world'],
  ['Decipher the Caesar cipher: WKLV LV D VHFUHW PHVVDJH', 'this is a secret message'],
  ['What does ".... . .-.. .-.. ---" say in Morse code?', 'hello'],
  ['What is the opposite of "left"?', 'right'],
])('%s → %s (REQ-011)', (question, answer) => {
  const puzzle = readPuzzle(question);
  expect(puzzle && 'answer' in puzzle ? fitFormat(question, puzzle.answer) : puzzle).toBe(answer);
});

test('a question that is written backwards is turned round, to be answered then (REQ-059)', () => {
  expect(readPuzzle('"tfel" drow eht fo etisoppo eht si tahW')).toMatchObject({
    question: 'What is the opposite of the word "left"',
  });
});

test.each([
  'Who won the cup in 1998, and how many words are in his name?',
  'Who wrote "The Lantern Tax", "Low Water" and "Marram"?',
  'In the film "Eleven Bells", what is the last word spoken?',
  'What is the capital of Peru?',
])('other questions are left alone: %s', (question) => {
  expect(readPuzzle(question)).toBeUndefined();
});
