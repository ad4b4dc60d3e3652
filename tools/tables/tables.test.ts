import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { findAnchors, parseTableQuestion } from './anchors.ts';
import { askForItems, findSeparator, splitItems, stripForm } from './answer-form.ts';
import { answerTable } from './answer-table.ts';
import { FEATURE_BITS } from './features.ts';
import { parseMarkdownRows } from './markdown-rows.ts';
import { listPrograms } from './programs.ts';
import { parseTable } from './table.ts';
import { packTableModel, readTableModel } from './table-model.ts';
import { answerTextTables, blankTables, findTextTables } from './text-tables.ts';

const FERRIES = [
  ['Year', 'Ship', 'Port', 'Passengers', 'Launched'],
  ['1901', 'Halcyon', 'Dunnavoe', '1,204', '3 May 1899'],
  ['1902', 'Merrow', 'Sallow', '860', '12 June 1901'],
  ['1903', 'Petrel', 'Dunnavoe', '1,950', '1 March 1902'],
  ['1904', 'Grey Gull', 'Astel', '420', '9 April 1903'],
  ['1905', 'Skua', 'Dunnavoe', '77', '2 July 1904'],
];

const parseCell = (text: string) => parseTable([['Title'], [text]]).columns[0]?.cells[0];

describe('a cell', () => {
  test.each([
    ['1,204', 1204, true],
    ['5.5 km', 5.5, false],
    ['$3,000', 3000, false],
    ['12:34.5', 754.5, false],
    ['2nd', 2, false],
    ['none', undefined, false],
  ])('%s holds the number %s', (text, number, isNumber) => {
    expect(parseCell(text)).toMatchObject({ number, isNumber });
  });

  test.each([
    ['3 May 1899', { year: 1899, month: 5, day: 3 }],
    ['December 1, 2004', { year: 2004, month: 12, day: 1 }],
    ['1990-05-02', { year: 1990, month: 5, day: 2 }],
    ['1997', { year: 1997, month: undefined, day: undefined }],
    ['March', { year: undefined, month: 3, day: undefined }],
    ['7/16/1921', { year: 1921, month: 7, day: 16 }],
    ['22 April–9 May', { year: undefined, month: 4, day: 22 }],
    ['October 20–22, 1982 (final)', { year: 1982, month: 10, day: 20 }],
    ['1996–03', { year: 1996, month: undefined, day: undefined }],
    ['Julie', undefined],
  ])('%s holds a date', (text, date) => {
    if (date === undefined) expect(parseCell(text)?.date).toBeUndefined();
    else expect(parseCell(text)?.date).toMatchObject(date);
  });
});

test('columns are typed by what most of their cells are', () => {
  const types = parseTable(FERRIES).columns.map(({ type, isSortable }) => [type, isSortable]);
  expect(types).toEqual([
    ['date', true],
    ['text', false],
    ['text', false],
    ['number', true],
    ['date', true],
  ]);
});

describe('the programs of a question', () => {
  const table = parseTable(FERRIES);
  const answersTo = (question: string) =>
    new Set(
      listPrograms(
        table,
        findAnchors(parseTableQuestion(question), table, () => false),
      ).map(({ shape, answer }) => `${shape}: ${answer.join('; ')}`),
    );

  test('select, order, count, add, compare, and look above and below', () => {
    const answers = answersTo(
      'how many more passengers went from the merrow than from the skua at dunnavoe in 1903?',
    );
    for (const expected of [
      'count(is): 3',
      'project(first(is)): Halcyon',
      'project(most(is)): 1,950',
      'project(least(all)): 77',
      'sum(is): 3231',
      'difference(is,is): 783',
      'project(before(is)): Halcyon',
      'most frequent(all): Dunnavoe',
      'range(all): 1873',
    ])
      expect(answers).toContain(expected);
  });

  test('are bounded, whatever the table', () => {
    const wide = [
      Array.from({ length: 60 }, (_, i) => `c${i}`),
      ...Array.from({ length: 400 }, (_, row) =>
        Array.from({ length: 60 }, (_, i) => String((row * 7 + i) % 9)),
      ),
    ];
    const large = parseTable(wide);
    expect(large.columns.length).toBeLessThanOrEqual(40);
    const anchors = findAnchors(parseTableQuestion('1 2 3 4 5 6 7 8 or 9 of c1'), large, () => false);
    expect(listPrograms(large, anchors).length).toBeLessThanOrEqual(8000);
  });
});

describe('the parser as it ships', () => {
  test.each([
    ['how many ships sailed from dunnavoe?', ['3']],
    ['which ship carried the most passengers?', ['Petrel']],
    ['who was the ship after the merrow?', ['Petrel']],
    ['in what year did the skua sail?', ['1905']],
  ])('answers “%s”', (question, items) => {
    expect(answerTable(question, FERRIES)[0]).toMatchObject({ items });
  });

  test('ranks its answers, each once, with the program and how sure it is; an empty table has none', () => {
    const answers = answerTable('how many passengers did the skua carry?', FERRIES);
    const chances = answers.map(({ chance }) => chance);
    expect(chances).toEqual(chances.toSorted((a, b) => b - a));
    expect(chances.every((chance) => chance > 0 && chance < 1)).toBe(true);
    expect(new Set(answers.map(({ items }) => items.join())).size).toBe(answers.length);
    expect(answers[0]?.program).toMatch(/^project\(.*“Ship” is \(1\)/);
    expect(answerTable('how many?', [['Year']])).toEqual([]);
  });

  test.each([
    ['how many passengers did the skua carry, minus the tonnage of freight?', [], ['tonnage']],
    ['how many passengers did the skua carry if 15 more had come?', ['15'], []],
    ['how many passengers did the skua carry, and how many did 860 weigh?', ['860'], []],
    ['which ship of “Tarvin” carried the most passengers?', ['tarvin'], []],
    ['Which ship of Tarvin carried the most passengers?', ['tarvin'], []],
    ['which ship carried the most passengers in the 1823 season?', [], []],
  ])('of “%s” says which conditions and words have no part in the answer', (question, conditions, words) => {
    const { unplaced } =
      answerTable(question, FERRIES).find(({ items }) => /^(?:77|Petrel)$/.test(items.join())) ?? {};
    expect(unplaced?.conditions).toEqual(conditions);
    expect(unplaced?.words).toEqual(expect.arrayContaining([...words]));
    expect(unplaced?.words).not.toContain('passengers');
  });
});

test('a table in Markdown is read back, with its breaks and bars, without the letters of columns and numbers of rows', () => {
  const text =
    '## Sheet "CSV": 2 rows\nThe header is row 1.\n\n| row | A: Year | B: A \\| b |\n| --- | --- | --- |\n| 2 | 1999 | x<br>y |\n| 3 | 2000 |  |\n\nend';
  expect(parseMarkdownRows(text)).toEqual([
    ['Year', 'A | b'],
    ['1999', 'x\ny'],
    ['2000', ''],
  ]);
  expect(parseMarkdownRows('| a | b |\n|---|---|\n| 1 | 2 |')).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ]);
  expect(parseMarkdownRows('no table')).toBeUndefined();
});

test('the form of the answer is said to every engine, and is no part of the question', () => {
  const question = 'which ships?';
  expect(stripForm(askForItems(question))).toBe(question);
  expect(findSeparator(askForItems(question))).toBe(' | ');
  expect(findSeparator(question)).toBe(', ');
  expect(splitItems('Petrel | Skua')).toEqual(['Petrel', 'Skua']);
  expect(splitItems('Bangkok, Thailand')).toEqual(['Bangkok, Thailand']);
});

test('weights are read as they were packed, to a hundredth of the largest', () => {
  const weights = new Float32Array(1 << FEATURE_BITS);
  weights[0] = 1;
  weights[5] = -0.5;
  weights[(1 << FEATURE_BITS) - 1] = 0.25;
  const file = path.join(temporaryFolder(), 'tables.bin');
  writeFileSync(
    file,
    packTableModel({ weights, common: new Set(['the']), calibration: [1, 2, 3, 4, 5, 0, 0] }),
  );
  const model = readTableModel(pathToFileURL(file));
  expect(model.common).toEqual(new Set(['the']));
  expect(model.calibration).toEqual([1, 2, 3, 4, 5, 0, 0]);
  for (const [at, weight] of weights.entries())
    if (weight !== 0) expect(model.weights[at]).toBeCloseTo(weight, 1);
  expect(model.weights[1]).toBe(0);
});

test('tables of plain texts are found by their columns; records without a heading are none', () => {
  const aligned =
    'Boats\n\nBoat     Built   Crew\nMerrow   1902    4\nPetrel   1911    12\n\nMoored in Sallow.';
  expect(findTextTables(aligned)).toEqual([
    {
      start: 2,
      end: 5,
      rows: [
        ['Boat', 'Built', 'Crew'],
        ['Merrow', '1902', '4'],
        ['Petrel', '1911', '12'],
      ],
    },
  ]);
  expect(blankTables(aligned)).toBe('Boats\n\n\n\n\n\nMoored in Sallow.');
  expect(findTextTables('Boat;Built\nMerrow;1902\nPetrel;1911')).toHaveLength(1);
  expect(findTextTables('08:11  INFO  started\n08:12  INFO  ready\n08:14  WARN  91 % full')).toEqual([]);
});

test('an improbable answer of a table is given only if no sentence stands beside it', () => {
  const table = FERRIES.map((row) => `| ${row.join(' | ')} |`)
    .toSpliced(1, 0, '| --- | --- | --- | --- | --- |')
    .join('\n');
  const give = (question: string, ...beside: string[]) =>
    answerTextTables(question, table, { beside }).given.map(({ items }) => items.join());
  expect(give('how many ships were painted?', '## Sheet "Ferries"')).not.toEqual([]);
  expect(give('how many ships were painted?', 'The ships were painted in May.')).toEqual([]);
  expect(give('by the table, how many ships were painted?', 'The ships were painted in May.')).not.toEqual(
    [],
  );
  expect(give('which ship carried the most passengers?', 'The ships were painted in May.')[0]).toBe('Petrel');
});
