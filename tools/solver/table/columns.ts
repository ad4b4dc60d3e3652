import { numberIn } from '../../files/cell-number.ts';
import type { CellValue, Table } from '../../files/sheet.ts';
import { hashWord } from '../../reader/hash.ts';
import { hashRow, largestSimilarity } from '../../reader/vectors.ts';
import { isStopWord, splitWords } from '../../reader/words.ts';
import { nameSameMeasure } from './measures.ts';

/** What a column of a table is about and holds. */
export interface Column {
  readonly name: string;
  readonly kind: 'number' | 'year' | 'date' | 'yes-no' | 'text';
  /** Stems of the words of its name, without its unit. */
  readonly stems: readonly string[];
  readonly words: readonly string[];
  /** What its name says the numbers are measured in: `m` for `Height (m)` and `elevation_m`. */
  readonly unit: string | undefined;
  /** Different texts, in order; empty where there are too many to be categories or names. */
  readonly values: readonly string[];
  /** Every row has another value: a name or a number of the row. */
  readonly isUnique: boolean;
}

/** More different texts are prose or keys: nobody names one of them in a question. */
const MAX_VALUES = 5_000;

export function columnsOf(table: Table): Column[] {
  return table.columns.map((name, index) => {
    const cells = table.rows
      .map(({ cells: row }) => row[index] ?? null)
      .filter((cell) => cell !== null && cell !== '');
    const texts = [...new Set(cells.map((cell) => String(cell).trim()))];
    const unit = unitIn(name);
    const words = splitWords(spelledOut(unit === undefined ? name : name.replace(UNIT, ' ')));
    const content = words.filter(({ lower }) => !isStopWord(lower));
    return {
      name,
      kind: kindOf(name, cells, texts),
      stems: content.map(({ stem }) => stem),
      words: content.map(({ lower }) => lower),
      unit,
      values: texts.length > MAX_VALUES ? [] : texts,
      isUnique: texts.length === cells.length,
    };
  });
}

const UNIT =
  /\(([^()]+)\)|\[([^[\]]+)\]|(?<=[a-z])_(mm|cm|km|m|kg|g|mg|t|l|ml|s|min|h|usd|eur|gbp|pct|percent)$/i;

function unitIn(name: string): string | undefined {
  const match = UNIT.exec(name);
  return (match?.[1] ?? match?.[2] ?? match?.[3])?.trim().toLowerCase();
}

/** `soldOn` and `sold_on` are two words. */
function spelledOut(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])|_/g, ' ');
}

const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:T|$)/;

function kindOf(name: string, cells: readonly CellValue[], texts: readonly string[]): Column['kind'] {
  if (cells.length === 0) return 'text';
  if (texts.every((text) => ISO_DATE.test(text))) return 'date';
  if (texts.every((text) => /^(?:yes|no|true|false|y|n)$/i.test(text))) return 'yes-no';
  // A few cells such as "n/a" do not make a column of numbers another one.
  const numbers = cells.filter((cell) => numberIn(cell) !== undefined);
  if (numbers.length < cells.length * 0.8) return 'text';
  const isYear = numbers.every((cell) => /^(?:1[0-9]|20)\d\d$/.test(String(cell)));
  return isYear &&
    /year|lit|built|founded|born|died|opened|published|released|established|date|since|made|first/i.test(name)
    ? 'year'
    : 'number';
}

/** A word of the question. */
export interface AskedWord {
  readonly lower: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
}

/** A name without its head says little: "units" are not meant by `Unit price`. */
const WITHOUT_HEAD = 0.4;
/** Another word for the same measure is better than a part of a name, and worse than the name. */
const SAME_MEASURE = 0.6;

/** How well the words name the column, above 0 where they do: how many of its words are there, times their share. */
export function nameMatch(column: Column, words: readonly AskedWord[]): number {
  const found = column.stems.filter((stem) => words.some((word) => word.stem === stem));
  const [head] = headOf(column);
  const named = column.stems.length === 0 ? 0 : (found.length * found.length) / column.stems.length;
  const weighed = head !== undefined && !found.includes(head) ? named * WITHOUT_HEAD : named;
  const isSame =
    isNumeric(column) && column.words.some((word) => words.some(({ lower }) => nameSameMeasure(word, lower)));
  return Math.max(weighed, isSame ? SAME_MEASURE : 0);
}

/** The stem of the noun in a name: the last one, or what stands before "per". */
function headOf({ stems, words }: Column): string[] {
  const per = words.indexOf('per');
  return stems.slice(0, per > 0 ? per : undefined).slice(-1);
}

/** Below it words are as alike as any two of one text. */
const LIKENESS = 0.55;

/** How alike the column's name is to one of the words, by what the words mean; 0 where it is not more than chance. */
export function meaningMatch(column: Column, words: readonly AskedWord[]): number {
  const rows = words.filter(({ lower }) => !isStopWord(lower)).map(({ lower }) => hashRow(hashWord(lower)));
  const best = Math.max(0, ...column.words.map((word) => largestSimilarity(hashRow(hashWord(word)), rows)));
  return best < LIKENESS ? 0 : best;
}

export function isNumeric({ kind }: Column): boolean {
  return kind === 'number' || kind === 'year';
}

/** The column with the most points, the first of equals; undefined where none has any. */
export function best(columns: readonly Column[], score: (column: Column) => number): Column | undefined {
  let found: Column | undefined;
  let most = 0;
  for (const column of columns) {
    const points = score(column);
    if (points > most) {
      found = column;
      most = points;
    }
  }
  return found;
}
