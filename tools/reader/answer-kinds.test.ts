import { expect, test } from 'vitest';
import { findAnswerKind, listValues } from './answer-kinds.ts';
import { parseQuestion } from './question.ts';

const read = (question: string, text: string) => {
  const kind = findAnswerKind(parseQuestion(question));
  return kind === undefined
    ? undefined
    : listValues(kind, text).map(({ start, end }) => text.slice(start, end));
};

test.each([
  ['At what temperature is it dried?', 'Dry it at 65 °C for 3 hours.', ['65 °C']],
  ['How long does it take?', 'Dry it at 65 °C for 3 to 4 hours.', ['3 to 4 hours']],
  ['What is the phone number of the warden?', 'Warden (2024-05-01): 020 7946 0018.', ['020 7946 0018']],
  ['How much does a night cost?', 'A night for 2 people: €79.50', ['€79.50']],
  ['What percentage voted?', 'Of 1,200 members, 64 % voted.', ['64 %']],
  ['In what year was it sold?', 'It was sold for 2 million in 1987.', ['1987']],
  ['At what time does it close?', 'Open on 3 May until 9.30 pm.', ['9.30 pm']],
  ['Why was it closed?', 'It was closed because of ice on the track.', ['ice on the track']],
  ['How many boats does the club own?', '§ 7 On 2 May and in 2011 it got 12 boats at Weir Lane 3.', ['12']],
  ['How old was the mate?', 'The mate, aged 42, caught three tunny in 1892.', ['42']],
  ['How much is the fee for students?', '§ 3 The fee is 45 pounds for students.', ['45 pounds']],
])('%s', (question, text, values) => {
  expect(read(question, text)).toEqual(values);
});

test('a question after a thing shows no kind', () => {
  expect(read('What did she bring?', '3 cakes')).toBeUndefined();
});

test('no text takes more than a moment: each can be read in one way only', () => {
  const questions = [
    'How many people came?',
    'How long did it take?',
    'At what temperature does it bake?',
    'What is the phone number?',
    'When did it open?',
    'How much does it cost?',
    'What percentage was lost?',
    'Why did it fail?',
    'What is the e-mail address?',
    'In what year was it built?',
    'Who won?',
    'How old is it?',
  ];
  const repeated = [
    '1 000 ',
    '1,111',
    'twenty-',
    'twenty ',
    'one ',
    '1-',
    '(12) 34-',
    'a.b',
    '12:30 ',
    'half a ',
    'in 1999 ',
    'A Lane 1',
  ];
  for (const question of questions) {
    const kind = findAnswerKind(parseQuestion(question));
    if (kind === undefined) throw new Error(`${question} has no kind`);
    // An expression that backtracks takes years for these; the limit of the test ends it.
    for (const part of repeated) expect(listValues(kind, part.repeat(500))).toBeInstanceOf(Array);
  }
});
