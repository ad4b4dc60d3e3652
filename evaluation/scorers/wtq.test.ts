import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWtqCorrect, isWtqMatch, parseWtqValues } from './wtq.ts';

const vectors = path.join(codeFolder, '..', 'shared', 'data', 'wtq', 'evaluator_vectors.jsonl');

test.skipIf(!existsSync(vectors))(
  'judges as the official evaluator does (golden cases, where they are at hand)',
  () => {
    const cases = readFileSync(vectors, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const wrong = cases.filter(
      ({ answers, predicted, correct }) => isWtqCorrect(answers, predicted) !== correct,
    );
    expect(wrong).toEqual([]);
    expect(cases.length).toBeGreaterThan(300);
  },
);

test.each([
  [['3'], ['3.0'], true],
  [['3'], ['three'], false],
  [['Zürich'], ['Zurich [1]'], true],
  [['The Mill'], ['"the mill"'], true],
  [['a', 'b'], ['b', 'a'], true],
  [['a', 'b'], ['a'], false],
  [['1990-05-xx'], ['1990-5-xx'], true],
  [['1990-xx-xx'], ['1990'], true],
  [['1990-05-02'], ['1990-05-03'], false],
])('%j against %j: %s', (answers, predicted, correct) => {
  expect(isWtqCorrect(answers, predicted)).toBe(correct);
});

describe('a set of values', () => {
  test.each([
    [['a'], ['a', 'b'], false],
    [['a', 'b'], ['a', 'a'], false],
    [['a', 'a'], ['a'], true],
    [['3', '4'], ['4.0', '3'], true],
    [['1990-05-02', '1990-5-2'], ['1990-05-02'], true],
    [['1990-05-02', '1990-05-03'], ['1990-05-02', '1990-05-04'], false],
    [[], [], true],
    [[], ['a'], false],
    // Of each kind one value: a number, a date and a text.
    [['3', '1990-05-02', 'a'], ['A', '3.0', '1990-5-2'], true],
    [['3', '1990-05-02', 'a'], ['A', '3.0', '1990-5-3'], false],
    [['a', 'b'], ['a', 'b.', 'B'], true],
    [['xx-05-xx', 'xxxx-5-xx'], ['xx-5-xx'], true],
    // Of equal values the first is kept, and its text may be given as a text.
    [['3', '3.0'], ['"3"'], true],
    [['3.0', '3'], ['"3"'], false],
    // Neither is a finite number.
    [['1e999', '1e998'], ['1e999'], false],
    // Texts that look like the values of other kinds.
    [['3', 'number 3'], ['3'], false],
    [['1990-05-02'], ['"1990-5-2"'], false],
  ])(
    '%j is answered by %j: %s, since each value counts once and none may be too many',
    (answers, predicted, correct) => {
      expect(isWtqCorrect(answers, predicted)).toBe(correct);
      expect(isWtqMatch(parseWtqValues(answers), parseWtqValues(predicted))).toBe(correct);
    },
  );
});

describe('a number', () => {
  test.each([
    ['3', '3.0000005', true],
    ['1e12', '1000000000000', true],
    ['1e10', 'ten', false],
    ['3', '3.000002', false],
    ['3', '2.999998', false],
    ['-3', '3', false],
    ['.5', '0.5', true],
    ['1e3', '1000', true],
    ['12', '12.50', false],
    ['0', '0.0000009', true],
    ['0', '0.000001', false],
    // None of these is a number, so its text has to be the same.
    ['3 km', '3', false],
    ['1,000', '1000', false],
    ['.', '0', false],
  ])('%s against %s: %s', (answer, predicted, correct) => {
    expect(isWtqCorrect([answer], [predicted])).toBe(correct);
    expect(isWtqCorrect([predicted], [answer])).toBe(correct);
  });
});

describe('a date', () => {
  test.each([
    ['1990-05-02', '1990-5-2', true],
    ['1990-05-02', '1991-05-02', false],
    ['1990-XX-02', '1990-xx-2', true],
    ['xx-05-02', 'xxxx-5-2', true],
    ['xx-05-02', '1990-05-02', false],
    ['1990-05-xx', '1990-05-02', false],
    ['1990-xx-xx', '1990', true],
    ['1990-xx-xx', '1990.0', true],
    ['1990-xx-05', '1990', false],
    ['1990-05-xx', '1990', false],
    ['1990-12-31', '01990-12-31', true],
    ['1990-00-05', '1990-0-5', false],
    ['1990-05-00', '1990-5-0', false],
    ['1990-05-02', '5', false],
    ['a-b-c', 'd-e-f', false],
    ['1990-1-1', '1990-01-01', true],
    [' 1990-05-02\t', '1990-5-2', true],
    ['0-01-01', '00-1-1', true],
    ['1e3-01-01', '1000-1-1', false],
    // Dates in form only are texts, which have to be the same.
    ['1990-13-01', '1990-13-1', false],
    ['1990-01-32', '1990-1-32', false],
    ['199o-01-01', '199o-1-1', false],
    ['xx-xx-xx', 'xxxx-xx-xx', false],
    ['1990-05', '1990-5', false],
    ['1990-05-02-01', '1990-5-2-1', false],
  ])('%s against %s: %s', (answer, predicted, correct) => {
    expect(isWtqCorrect([answer], [predicted])).toBe(correct);
    expect(isWtqCorrect([predicted], [answer])).toBe(correct);
  });
});

describe('a text', () => {
  test.each([
    ['Café', 'cafe', true],
    ['ﬁn', 'fin', true],
    ['it’s', "it's", true],
    ['‘it’', "'it'", true],
    ['`it`', "'it'", true],
    ['“so” it is', '"so" it is', true],
    ['a–b', 'a-b', true],
    ['a—b', 'a-b', true],
    ['a−b', 'a-b', true],
    ['a‑b', 'a-b', true],
    ['Mill [note] ', 'mill', true],
    ['[note] mill', 'mill', false],
    ['Mill (old) there', 'mill there', false],
    ['"The Mill"', 'the mill', true],
    ['Mill.', 'mill', true],
    ['Mill..', 'mill', false],
    ['St. Ives', 'st ives', false],
    ['the   old\tmill', 'the old mill', true],
    ['  mill  ', 'mill', true],
    ['mill .', 'mill', true],
    ['MILL', 'mill', true],
    ['Straße', 'strasse', false],
    ['mill. ', 'mill', true],
    ['[12]', '', true],
    ['"a" or "b"', 'a or "b"', false],
    ['mill\u00a0x', 'mill x', true],
    ['mill\n\nx', 'mill x', true],
    ['nai\u0308ve', 'naïve', true],
    ['theold mill', 'the old mill', false],
    ['a b', 'a c', false],
  ])('%j against %j: %s', (answer, predicted, correct) => {
    expect(isWtqCorrect([answer], [predicted])).toBe(correct);
    expect(isWtqCorrect([predicted], [answer])).toBe(correct);
  });

  test('has one kind of dash and of quotes, and no marks of footnotes', () => {
    for (const dash of '‐‑‒–—−') expect(isWtqCorrect(['a-b'], [`a${dash}b`]), dash).toBe(true);
    for (const quote of '‘’`') expect(isWtqCorrect(["it's"], [`it${quote}s`]), quote).toBe(true);
    for (const quote of '“”') expect(isWtqCorrect(['a"b'], [`a${quote}b`]), quote).toBe(true);
    for (const mark of '•♦†‡*#+') expect(isWtqCorrect(['mill'], [`mill${mark}${mark}`]), mark).toBe(true);
  });

  test('loses at its end what the evaluator’s expressions remove', () => {
    const byExpressions = (text: string) => {
      let rest = text;
      let before: string;
      do {
        before = rest;
        rest = rest.trim().replace(/((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$/, '');
        rest = rest.trim().replace(/(?<!^)( \([^)]*\))*$/, '');
        rest = rest.trim().replace(/^"([^"]*)"$/, '$1');
      } while (before !== rest);
      return rest.replace(/\.$/, '').replaceAll(/\s+/g, ' ').toLowerCase().trim();
    };
    const part = fc.constantFrom('a', '1', ' ', '[', ']', '(', ')', ' (', '[1]', ' (b)', '"', '*', '.');
    const texts = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseWtqValues([text]).map((value) => value.text)).toEqual([byExpressions(text)]);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([' [a] (b)', '[', '[1]', ' (', '* ', '"'])(
    'of 400,000 characters takes linear time, such as %j many times',
    (part) => {
      const text = part.repeat(Math.ceil(400_000 / part.length));
      for (const given of [text, `x${text}`, `${text}x`, `[${text}]`, `x (${text})`, `"${text}"`])
        expect(parseWtqValues([given])).toHaveLength(1);
    },
  );
});
