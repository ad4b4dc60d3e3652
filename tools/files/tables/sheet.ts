import type { CellValue } from '../../tables/values/value.ts';

/** One sheet of a spreadsheet, or a whole CSV file. All texts are well-formed. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Those that hold something, in order. */
  readonly rows: readonly SheetRow[];
  /** False where rows or columns beyond the bounds were left out. */
  readonly isWhole: boolean;
  readonly formulas: readonly CellNote[];
  readonly comments: readonly CellNote[];
  /** Ranges like `A1:C1`. */
  readonly merged: readonly string[];
  /** Cells by the colour of their fill. */
  readonly fills: ReadonlyMap<string, readonly CellPosition[]>;
}

export interface SheetRow {
  /** As spreadsheets count, from 1. */
  readonly number: number;
  /** From column A on. */
  readonly cells: readonly CellValue[];
}

export interface CellNote {
  readonly cell: string;
  readonly text: string;
}

/** Counted from 0. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** A sheet seen as a table with names over its columns. */
export interface Table {
  /** Each once. */
  readonly columns: readonly string[];
  readonly rows: readonly SheetRow[];
  /** The row with the names; undefined in an empty sheet. */
  readonly header: SheetRow | undefined;
  /** Titles and remarks above it. */
  readonly above: readonly SheetRow[];
}

/** Rows of one sheet, and columns. Tables that people make are smaller; a reader is told when there are more. */
export const MAX_ROWS = 200_000;
export const MAX_COLUMNS = 1000;

/** A header stands within so many rows of the top. */
const HEADER_ROWS = 20;

/**
 * The header is the first row that is at least half as full as the fullest near the top: titles above a table fill a cell or two.
 * Columns without a name get their letter, names that are there already a number.
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
    // Names become keys of JSON objects, where this one has a meaning of its own.
    return title === '' || title === '__proto__' ? toColumnLetters(i) : title;
  });
  return { columns: makeNamesUnique(names), rows: rows.slice(at + 1), header, above: rows.slice(0, at) };
}

/** `B3` for row 2, column 1. */
export function formatCellName({ row, column }: CellPosition): string {
  return `${toColumnLetters(column)}${row + 1}`;
}

/** As people read it; nothing for an empty cell. */
export function formatCell(value: CellValue): string {
  return value === null ? '' : typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

/** Of a cell, in what a reply shows. */
export const MAX_CELL_CHARACTERS = 500;

export function shortenCell(value: CellValue): CellValue {
  const isLong = typeof value === 'string' && value.length > MAX_CELL_CHARACTERS;
  return isLong ? `${value.slice(0, MAX_CELL_CHARACTERS).toWellFormed()}…` : value;
}

/** Names that differ from each other, also where `fold` takes two for one: those that were there before get a number. */
export function makeNamesUnique(names: readonly string[], fold = (name: string) => name): string[] {
  const known = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 2; known.has(fold(unique)); n++) unique = `${name} (${n})`;
    known.add(fold(unique));
    return unique;
  });
}

/** `A` for 0, `AA` for 26. */
export function toColumnLetters(column: number): string {
  let letters = '';
  for (let n = column; n >= 0; n = Math.floor(n / 26) - 1)
    letters = String.fromCharCode(65 + (n % 26)) + letters;
  return letters;
}
