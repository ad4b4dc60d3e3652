import type { CellValue } from '../../tables/values/value.ts';

/** One sheet of a spreadsheet, or a whole CSV file, as a table. All texts are well-formed. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Titles and remarks above the header. */
  readonly above: readonly SheetRow[];
  /** The row with the names of the columns; undefined in an empty sheet. */
  readonly header: SheetRow | undefined;
  /** Names of the columns, each once. */
  readonly columns: readonly string[];
  /** The rows below the header that are not empty, in order. */
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

/** Maximum rows and columns of one sheet. Tables that people make are smaller; a reply says when there are more. */
export const MAX_ROWS = 200_000;
export const MAX_COLUMNS = 1000;

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
