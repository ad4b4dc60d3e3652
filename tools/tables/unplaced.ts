import type { TableQuestion } from './anchors.ts';
import type { Program } from './programs.ts';
import type { Table } from './table.ts';
import { splitWords } from './words.ts';

/** Parts of a question that a program does not use. */
export interface Unplaced {
  /** Numbers, dates and names: each narrows the question, so that an answer without it answers another one. */
  readonly conditions: readonly string[];
  /** Other words that carry meaning. */
  readonly words: readonly string[];
  /** Number of words with meaning that it uses. */
  readonly placed: number;
}

/** Minimum length of a reported word; shorter ones carry too little meaning. */
const MIN_WORD_CHARACTERS = 3;
const YEAR = /^(?:1\d|20)\d\d$/;

/**
 * Finds the words of the question that are neither part of what the program selects nor of the title of a column that
 * it uses. A year that occurs nowhere in the table is left out, since the whole table is about it.
 */
export function findUnplaced(
  asked: TableQuestion,
  { anchors, roles }: Program,
  table: Table,
  common: ReadonlySet<string>,
): Unplaced {
  const { words, stems, names } = asked;
  const titles = new Set([...roles, ...anchors].flatMap(({ column }) => table.columns[column]?.words ?? []));
  const isPlaced = (at: number) =>
    titles.has(stems[at] ?? '') || anchors.some(({ start, end }) => start <= at && at < end);
  const conditions: string[] = [];
  const others: string[] = [];
  let placed = 0;
  for (const [at, word] of words.entries()) {
    const stem = stems[at] ?? '';
    if (isPlaced(at)) {
      if (!common.has(stem)) placed++;
      continue;
    }
    if (/^\d/.test(word)) {
      if (!YEAR.test(word) || collectWords(table).has(word)) conditions.push(word);
    } else if (names.has(at) && !common.has(stem)) conditions.push(word);
    else if (stem.length >= MIN_WORD_CHARACTERS && !common.has(stem)) others.push(word);
  }
  return { conditions, words: others, placed };
}

const known = new WeakMap<Table, ReadonlySet<string>>();

/** Collects all words of a table, once per table. */
function collectWords(table: Table): ReadonlySet<string> {
  const words =
    known.get(table) ??
    new Set(
      table.columns.flatMap(({ title, cells }) => [
        ...splitWords(title),
        ...cells.flatMap(({ norm }) => norm.split(' ')),
      ]),
    );
  known.set(table, words);
  return words;
}
