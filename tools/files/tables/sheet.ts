import type { CellValue } from '../../tables/values/value.ts';

/** One sheet of a spreadsheet, or a whole CSV file. All texts are well-formed. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** The rows that are not empty, in order. */
  readonly rows: readonly SheetRow[];
  /** False when rows or columns beyond the bounds were left out. */
  readonly isWhole: boolean;
  /** Each behind its cell's name: `C1 =A1+B1`. */
  readonly formulas: readonly string[];
  /** Each behind its cell's name, in JSON: `C1 "agreed"`. */
  readonly comments: readonly string[];
  /** Ranges like `A1:C1`. */
  readonly merged: readonly string[];
  /** Cells by the colour of their fill: their number, and ranges of neighbours in a row. */
  readonly fills: ReadonlyMap<string, { readonly cells: number; readonly ranges: readonly string[] }>;
}

export interface SheetRow {
  /** The row's number as spreadsheets count, from 1. */
  readonly number: number;
  /** Cells from column A on. */
  readonly cells: readonly CellValue[];
}

/** A sheet as a table with names for its columns. */
export interface Table {
  /** Names of the columns, each once. */
  readonly columns: readonly string[];
  readonly rows: readonly SheetRow[];
  /** The row with the names; undefined in an empty sheet. */
  readonly header: SheetRow | undefined;
  /** Titles and remarks above the header. */
  readonly above: readonly SheetRow[];
}

/** Maximum rows and columns of one sheet. Tables that people make are smaller; a reply says when there are more. */
export const MAX_ROWS = 200_000;
export const MAX_COLUMNS = 1000;

/** Number of rows at the top that are searched for a header. */
const HEADER_ROWS = 20;

/**
 * Takes as header the first row that is at least half as full as the fullest near the top: titles above a table fill a
 * cell or two. Columns without a name are named by their letter, and repeated names are numbered.
 */
export function toTable({ rows }: Sheet): Table {
  const filled = rows.slice(0, HEADER_ROWS).map(({ cells }) => cells.filter((cell) => cell !== null).length);
  const most = filled.reduce((max, count) => Math.max(max, count), 0);
  const at = Math.max(
    0,
    filled.findIndex((count) => count * 2 >= most),
  );
  const header = rows[at];
  const width = rows.slice(at).reduce((max, { cells }) => Math.max(max, cells.length), 0);
  const names = Array.from({ length: width }, (_, i) => {
    const title = String(header?.cells[i] ?? '')
      .replace(/\s+/g, ' ')
      .trim();
    // Names become keys of JSON objects, in which `__proto__` has a meaning of its own.
    return title === '' || title === '__proto__' ? toColumnLetters(i) : title;
  });
  return { columns: makeNamesUnique(names), rows: rows.slice(at + 1), header, above: rows.slice(0, at) };
}

/** Writes a cell as people read it; an empty cell as an empty text. */
export function formatCell(value: CellValue): string {
  return value === null ? '' : typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

/** Maximum characters of a cell in a reply. */
export const MAX_CELL_CHARACTERS = 500;

/** Makes names unique, also where `fold` makes two of them equal, by numbering the repeated ones. */
export function makeNamesUnique(names: readonly string[], fold = (name: string) => name): string[] {
  const known = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 2; known.has(fold(unique)); n++) unique = `${name} (${n})`;
    known.add(fold(unique));
    return unique;
  });
}

/** Returns `A` for 0, `AA` for 26. */
export function toColumnLetters(column: number): string {
  let letters = '';
  for (let n = column; n >= 0; n = Math.floor(n / 26) - 1)
    letters = String.fromCharCode(65 + (n % 26)) + letters;
  return letters;
}
