import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { describe, expect, test } from 'vitest';
import { findLeaks } from './leaks.ts';

/** Returns the answers that `text` reveals. */
const told = (text: string, ...answers: string[]) => findLeaks(text, '', answers);

/** Returns the names of the question that `text` reveals. */
const named = (text: string, question: string) => findLeaks(text, question, []);

describe('the answer (OV-12, C-12)', () => {
  test.each([
    ['as it stands', 'Guatemala', 'it said Guatemala too early'],
    ['in another case', 'Guatemala', 'it said GUATEMALA'],
    ['with accents', 'São Tomé', 'look at Sao Tome'],
    ['with other punctuation', 'St. Petersburg', 'as for St Petersburg, it was missed'],
    ['over a line break', 'claude shannon', 'the man, Claude\nShannon'],
    ['inside a longer word', 'Guatemala', 'the Guatemalan list'],
    ['without its article', 'The Beatles', 'albums by Beatles'],
    ['quoted', 'Rd5', 'the move is "Rd5"'],
    ['a number', '17', 'there were 17 of them'],
    ['a number with thousands', '1234', 'it counted 1,234'],
    ['a number with thousands in the answer', '1,234', 'it counted 1234'],
    ['a number with a space for thousands', '12345', 'it counted 12 345'],
    ['a number with a narrow space', '12345', 'it counted 12\u202f345'],
    ['a price', '$89706.00', 'the sum is 89,706'],
    ['a share', '17.50%', 'a share of 17.5'],
    ['a number in words', '4', 'take the four columns'],
    ['words for a number', 'four', 'take 4 columns'],
    ['an ordinal', '7', 'on the 7th page'],
    ['one digit between marks', '3', 'the answer is (3).'],
    ['yes', 'yes', 'it should be yes'],
    ['a letter to choose', 'b', 'option B is right'],
    ['the letter A', 'A', 'the right option is A'],
    ['a list', 'a, b and c', 'it is A, B and C'],
    ['an item of a list', 'broccoli, celery, basil', 'celery is no fruit'],
    ['another script', '数独', '数独 is the game'],
  ])('%s', (_, answer, text) => {
    expect(told(text, answer).length).toBeGreaterThan(0);
  });

  test.each([
    ['a short answer inside a longer word', 'art', 'start with the parts of the article'],
    ['a number inside a longer number', '17', 'there were 1,178 in 2017'],
    ['a fraction that begins alike', '17', 'a value of 17.5'],
    ['an article where the answer is A', 'A', 'A page that is a list. A list'],
    ['a pronoun that is no number', '1', 'one of the pages'],
    ['words of the answer apart from each other', 'red fox', 'the fox in the red book'],
    ['short items of a list', '1, 3, 5, 12', 'check 3 pages'],
    ['an empty answer', '', 'anything'],
    ['an answer of marks', '...', 'anything ...'],
  ])('not: %s', (_, answer, text) => {
    expect(told(text, answer)).toEqual([]);
  });

  test('every accepted form counts, and a leak names the form', () => {
    expect(told('the UK list', 'United Kingdom', 'UK')).toEqual(['UK']);
  });
});

/** Hints as abstractors write them. All of them are general. */
const HINTS = [
  'May need two sources. Plan one step for each part, and no more than one tool a step.',
  'No plan should trust the first row: one of the columns may have more than one unit.',
  'Where a list is long, count it by a program; one may not rely on the model to count.',
  'A reader that finds no text may be looking at a picture: plan the tool for pictures first.',
  'Check the last step again: it may use a number that no tool has returned.',
  'If the first page says nothing, open the next one; the right table may be below.',
  'Questions about the most or the least of something need all rows, not only the first few.',
  'Read both ends of a range, and say which of the two is meant.',
  'It may be true that a source is out of date: compare it with a new one.',
  'Do not stop at the first result; none of them may be the one that is asked for.',
  'Look left and right of the cell as well: the label may be in another column.',
  'Plan so that each step has one result, and write down what it is.',
  'The answer may have another form than the cell: no unit, no comma, one word.',
];

test.each([
  'No',
  'no',
  'one',
  'One',
  'May',
  'Yes',
  'true',
  'A',
  'two',
  '2',
  'right',
  'None',
  'the sister',
  'first',
])('general hints tell nothing of the answer %s', (answer) => {
  expect(HINTS.filter((hint) => told(hint, answer).length > 0)).toEqual([]);
});

test.each([
  ['No', 'the answer should have been no'],
  ['no', 'it said "no" too late'],
  ['one', 'it counted three where the answer is one.'],
  ['May', 'the event was in May, which it did not read'],
  ['two', 'the true number is 2, not 3'],
  ['right', 'option right was to be chosen'],
  ['true', 'the statement (true) was denied'],
])('the common word %s as an answer is told by a phrase that states it: %s', (answer, text) => {
  expect(told(text, answer)).toEqual([answer]);
});

test('the letters of an answer over the ends of two words are no phrase', () => {
  expect(told('ask the sister company', 'thesis')).toEqual([]);
  expect(told('it was not able to read it', 'notable')).toEqual(['notable']);
});

describe('what the question names (OV-12)', () => {
  const question =
    'In 2009, how many studio albums were published by Mercedes Sosa between 1999 and 2009 (included)? You can use the latest ' +
    '2022 version of english Wikipedia.';

  test.each([
    ['a name', 'check the discography of mercedes sosa', ['mercedes sosa']],
    ['a part of a name', 'see Sosa first', ['sosa']],
    ['a year', 'the range ends in 2009', ['2009']],
  ])('%s', (_, text, leaks) => {
    expect(named(text, question)).toEqual(leaks);
  });

  test('advice in general words passes, sources and formats too', () => {
    const text =
      'Questions that count works of an artist in a range of years: the list on Wikipedia mixes kinds of albums. Read the table of ' +
      'studio albums alone, check both ends of the range, and compare two sources. Include the first and the last year.';
    expect(named(text, question)).toEqual([]);
  });

  test.each([
    [
      'a quotation',
      'What does the line "to be or not" refer to?',
      'the line To be, or not',
      ['to be or not'],
    ],
    [
      'a quotation in single marks',
      "Who said 'follow the rabbit' first?",
      'follow the rabbit hole',
      ['follow the rabbit'],
    ],
    ['a file', 'What is the sum in data_2.xlsx?', 'read data_2.xlsx', ['data 2 xlsx']],
    ['a site', 'What does www.example.org say?', 'go to www.example.org', ['www example org']],
    ['a code', 'Which grant is 80GSFC21M0002?', 'grant 80gsfc21m0002', ['80gsfc21m0002']],
    ['a number with thousands', 'What costs 1,500 euros?', 'a limit of 1500', ['1500']],
    ['a name of one word', 'How old is Leicester?', 'pages on leicester', ['leicester']],
    ['a name with initials', 'When was J. K. Rowling born?', 'see J.K. Rowling', ['j k rowling', 'rowling']],
    [
      'a name with small words',
      'Who leads the University of Leicester?',
      'the Leicester site',
      ['leicester'],
    ],
    ['a name at the beginning', "Einstein's first paper was on what?", 'papers of Einstein', ['einstein']],
    ['a name after an abbreviation', 'Who built St. Petersburg?', 'maps of st petersburg', ['st petersburg']],
    ['accents', 'Where is Besançon?', 'near Besancon', ['besancon']],
  ])('%s', (_, asked, text, leaks) => {
    expect(named(text, asked)).toEqual(leaks);
  });

  test.each([
    [
      'a common part of a name',
      'Who leads the University of Leicester?',
      'a university has pages of its staff',
    ],
    [
      'a verb at the beginning',
      'Compute the mean. Report it.',
      'compute before you report it; Report nothing else',
    ],
    ['small counts', 'Which 3 of the 5 rows have 2 values?', 'check 2 sources, 3 times'],
    [
      'formats and sources',
      'Read the Excel file and the PDF on Wikipedia.',
      'read Excel and PDF files, use Wikipedia',
    ],
    ['a question all in capitals', 'WHAT IS THE SUM OF ALL THE ROWS?', 'sum of all rows; the SUM OF ALL'],
    ['an apostrophe', "What's the film's and the book's year?", 'the year of the film'],
    ['a month that is a verb', 'What happened in May 1921?', 'the page may be long'],
    ['nothing', '', 'Anything At All, 1999'],
  ])('not: %s', (_, asked, text) => {
    expect(named(text, asked)).toEqual([]);
  });
});

test('a hostile text is checked in time that grows with its length', () => {
  const hostile = [
    `${'a.'.repeat(50_000)}`,
    `${'"'.repeat(50_000)}`,
    `${'1,000'.repeat(20_000)}`,
    `${'A '.repeat(50_000)}`,
    "'".repeat(50_000),
  ];
  for (const text of hostile) {
    const startMs = cpuMs();
    findLeaks(text.slice(0, 16_000), text, [text.slice(0, 1000), 'x']);
    expect(cpuMs() - startMs).toBeLessThan(5_000);
  }
});
