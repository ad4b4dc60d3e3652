import type { Table } from './table.ts';
import { parseNumber } from './values/number.ts';
import { findNames, splitWords, stemTableWord } from './words.ts';

/** A question in words. */
export interface TableQuestion {
  readonly words: readonly string[];
  readonly stems: readonly string[];
  /** Indices of words that are names. */
  readonly names: ReadonlySet<number>;
}

export function parseTableQuestion(text: string): TableQuestion {
  const words = splitWords(text);
  return { words, stems: words.map(stemTableWord), names: findNames(text, words) };
}

/** A phrase of the question and the rows that it selects in a column. */
export interface Anchor {
  readonly id: number;
  readonly column: number;
  /** Range of the question's words; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /**
   * `is`: the cell equals the phrase; `has`: it contains it; the others compare the cell's number or year with that of
   * the question.
   */
  readonly kind: 'is' | 'has' | '=' | '>' | '<' | '>=' | '<=';
  readonly rows: readonly number[];
}

const MAX_PHRASE_WORDS = 10;
const MAX_ANCHORS = 40;
/** Minimum length of a word that is matched alone; shorter ones are too frequent to identify a cell. */
const MIN_WORD_CHARACTERS = 3;

/** Finds the cells of the table that the question mentions, the longest phrases first. */
export function findAnchors(
  question: TableQuestion,
  table: Table,
  isCommon: (stem: string) => boolean,
): Anchor[] {
  return [...findPhraseAnchors(question, table, isCommon), ...findNumberAnchors(question, table)]
    .slice(0, MAX_ANCHORS)
    .map((anchor, id) => ({ ...anchor, id }));
}

type FoundAnchor = Omit<Anchor, 'id'>;

function findPhraseAnchors(
  { words, stems }: TableQuestion,
  table: Table,
  isCommon: (stem: string) => boolean,
): FoundAnchor[] {
  const found: FoundAnchor[] = [];
  const common = stems.map(isCommon);
  for (const { index, cells } of table.columns) {
    const padded = cells.map(({ norm }) => ` ${norm} `);
    const all = padded.join('');
    const taken: [number, number][] = [];
    for (let length = Math.min(MAX_PHRASE_WORDS, words.length); length > 0; length--) {
      for (let start = 0; start + length <= words.length; start++) {
        const end = start + length;
        if (taken.some(([from, to]) => from <= start && end <= to)) continue;
        const [first = '', last = ''] = [words[start], words[end - 1]];
        if (length === 1 && first.length < MIN_WORD_CHARACTERS && parseWordNumber(first) === undefined)
          continue;
        if (common[start] === true && common[end - 1] === true) continue;
        const phrase = words.slice(start, end).join(' ');
        const singular = length === 1 && last.endsWith('s') ? last.slice(0, -1) : phrase;
        // Most phrases are in no cell, which one search shows.
        if (!all.includes(` ${phrase} `) && (singular === phrase || !all.includes(` ${singular} `))) continue;
        const is: number[] = [];
        const has: number[] = [];
        for (const [row, text] of padded.entries()) {
          if (text.length === phrase.length + 2 && text === ` ${phrase} `) is.push(row);
          if (text.includes(` ${phrase} `) || (singular !== phrase && text.includes(` ${singular} `)))
            has.push(row);
        }
        if (has.length === 0) continue;
        taken.push([start, end]);
        if (is.length > 0) found.push({ column: index, start, end, kind: 'is', rows: is });
        if (has.length > is.length && has.length < table.size)
          found.push({ column: index, start, end, kind: 'has', rows: has });
      }
    }
  }
  return found.sort((a, b) => b.end - b.start - (a.end - a.start) || (a.kind === 'is' ? -1 : 1));
}

const SMALL_NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
const NUMBER_WORDS = new Map(SMALL_NUMBERS.split(' ').map((word, number) => [word, number]));

/** Returns the number that a word of a question stands for. */
function parseWordNumber(word: string): number | undefined {
  return parseNumber(word) ?? NUMBER_WORDS.get(word);
}

function findNumberAnchors({ words }: TableQuestion, { columns, size }: Table): FoundAnchor[] {
  const found: FoundAnchor[] = [];
  for (const [start, word] of words.entries()) {
    const value = parseWordNumber(word);
    if (value === undefined) continue;
    for (const { index, type, cells, isSortable } of columns) {
      if (!isSortable) continue;
      const of = cells.map(({ number, date }) => (type === 'date' ? date?.year : number));
      const tests = {
        '=': (n: number) => n === value,
        '>': (n: number) => n > value,
        '<': (n: number) => n < value,
        '>=': (n: number) => n >= value,
        '<=': (n: number) => n <= value,
      } as const;
      for (const kind of Object.keys(tests) as (keyof typeof tests)[]) {
        const rows = of.flatMap((n, row) => (n !== undefined && tests[kind](n) ? [row] : []));
        if (rows.length === 0 || rows.length === size) continue;
        found.push({ column: index, start, end: start + 1, kind, rows });
      }
    }
  }
  return found;
}
