import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { listTerms, rankGapRecords } from './gap-ranking.ts';

const candidate = (id: number, question_type: string, text: string, tool = '') => ({
  id,
  question_type,
  tool,
  terms: listTerms(text).join(' '),
});

const ranked = (
  candidates: ReturnType<typeof candidate>[],
  questionType: string,
  question: string,
  tools: readonly string[] = [],
) => rankGapRecords(candidates, { questionType, tools, terms: listTerms(question) }).map(({ id }) => id);

test('words are found without case, accents, plural endings and words that say nothing', () => {
  expect(
    listTerms('The Élephants of these CITIES, and their boxes: gases, glass, bus, series (2 of 10)'),
  ).toEqual(['elephant', 'city', 'boxe', 'gase', 'glass', 'bus', 'sery', '10']);
});

test('a text gives at most 2,000 terms of at most 64 characters', () => {
  const many = Array.from({ length: STORE_LIMITS.indexedTerms + 1 }, (_, i) => `w${i}`).join(' ');
  expect(listTerms(many)).toHaveLength(STORE_LIMITS.indexedTerms);
  expect(listTerms('x'.repeat(STORE_LIMITS.termCharacters + 1))).toEqual([
    'x'.repeat(STORE_LIMITS.termCharacters),
  ]);
  expect(listTerms(many, 3)).toEqual(['w0', 'w1', 'w2']);
});

test('a rare word counts for more than a common one (OV-16)', () => {
  const candidates = [
    candidate(1, 'x', 'table sheet'),
    candidate(2, 'x', 'table lighthouse'),
    candidate(3, 'x', 'table column'),
    candidate(4, 'x', 'table row'),
  ];
  expect(ranked(candidates, 'x', 'a table of lighthouses')).toEqual([2, 4, 3, 1]);
});

test('of two records with the same word the shorter is about it more (OV-16)', () => {
  const candidates = [candidate(1, 'x', 'ship'), candidate(2, 'x', 'ship harbour crane rope anchor wave')];
  expect(ranked(candidates, 'x', 'ships')).toEqual([1, 2]);
});

test('the order does not depend on the order of the candidates, which is the database’s own', () => {
  const candidates = [
    candidate(1, 'table', 'sum of columns'),
    candidate(2, 'lookup', 'sum of columns'),
    candidate(3, 'table', 'dates'),
    candidate(4, 'lookup', 'names'),
  ];
  const order = [1, 2, 3, 4];
  // 2 has the words and 3 the type: the type decides.
  expect(ranked(candidates, 'table', 'sum the columns')).toEqual([1, 3, 2, 4]);
  for (const first of order) {
    const turned = [...candidates.slice(first), ...candidates.slice(0, first)];
    expect(ranked(turned, 'table', 'sum the columns')).toEqual([1, 3, 2, 4]);
  }
});

test('no candidates and no terms are no trouble', () => {
  expect(ranked([], 'x', 'y')).toEqual([]);
  expect(ranked([candidate(1, 'x', 'a'), candidate(2, 'x', 'b')], 'x', '')).toEqual([2, 1]);
});

test('a failure at a tool that the question will need is more relevant than one elsewhere (OV-16)', () => {
  const candidates = [
    candidate(1, 'table', 'rows', 'read_excel'),
    candidate(2, 'table', 'rows', 'wikipedia'),
  ];
  expect(ranked(candidates, 'table', 'which rows', ['read_excel'])).toEqual([1, 2]);
  expect(ranked(candidates, 'table', 'which rows')).toEqual([2, 1]);
});
