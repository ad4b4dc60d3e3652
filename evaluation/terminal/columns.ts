import { formatMarkdownTable } from './markdown-table.ts';
import { count, formatDecimals, formatTable, toOneLine } from './table.ts';

type Cell = string | number | boolean | null | undefined;

/**
 * A column of a table, described once for all outputs: the terminal, Markdown pages, CSV files and the viewer.
 */
export interface Column<Row> {
  /** Its name in CSV files and data, with the unit last: `first_ms`. By default, it is the heading. */
  readonly key?: string;
  /** Heading for people. A column without one is in CSV files and data alone. */
  readonly header?: string | undefined;
  /** Returns the figure in full precision. */
  readonly value: (row: Row) => Cell;
  /** Decimals of a number; by default it is whole, with separators. */
  readonly digits?: number;
  /** Formats the figure for people if its plain value does not suffice. By default, a missing value is `–`. */
  readonly format?: (row: Row) => string;
  /** Meaning of the column, for the legend. */
  readonly explain?: string;
  /** Rank of a dispensable column: a narrow terminal drops the lowest first. */
  readonly rank?: number | undefined;
}

type ShownColumn<Row> = Column<Row> & { readonly header: string };

/** Formats a table for the terminal, without the dispensable columns that do not fit. */
export function formatColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const ranked = listShown(columns)
    .filter(({ rank }) => rank !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  return formatTable(
    listTexts(columns, rows),
    ranked.map(({ header }) => header),
  );
}

/** Formats a table as Markdown. */
export function formatColumnsMarkdown<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return formatMarkdownTable(listTexts(columns, rows));
}

/** Formats a table as CSV: all columns by their keys, with figures in full precision. */
export function formatColumnsCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map(({ value }) => formatCsvCell(value(row))));
  return `${[columns.map(({ key, header }) => formatCsvCell(key ?? header)), ...lines].map((line) => line.join(',')).join('\n')}\n`;
}

/** Explains the columns for the reader of the table: `header: bytes that are not payload. p50, p99: microseconds.` */
export function explainColumns<Row>(columns: readonly Column<Row>[]): string {
  const known = listShown(columns).filter(({ explain }) => explain !== undefined);
  return [...Map.groupBy(known, ({ explain }) => explain)]
    .map(([explain, own]) => `${own.map(({ header }) => header).join(', ')}: ${explain}.`)
    .join(' ');
}

function listShown<Row>(columns: readonly Column<Row>[]): ShownColumn<Row>[] {
  return columns.filter((column): column is ShownColumn<Row> => column.header !== undefined);
}

function listTexts<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  const shown = listShown(columns);
  return [
    shown.map(({ header }) => header),
    ...rows.map((row) => shown.map((column) => formatCell(column, row))),
  ];
}

/** Formats a figure for people. */
export function formatCell<Row>({ value, format, digits }: Column<Row>, row: Row): string {
  if (format !== undefined) return format(row);
  const cell = value(row);
  if (cell === null || cell === undefined) return '–';
  if (typeof cell !== 'number') return toOneLine(String(cell), MAX_TEXT);
  return digits === undefined ? count(cell) : formatDecimals(cell, digits);
}

/** Maximum characters of a text in a table; names of users' adapters and stacks may be long. */
const MAX_TEXT = 60;

/**
 * Formats one cell. Names of users' adapters and stacks may hold any characters; those with which spreadsheets
 * begin a formula get an apostrophe in front, which they do not show.
 */
function formatCsvCell(value: Cell): string {
  const isFormula = typeof value === 'string' && /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/.test(value);
  const text = `${isFormula ? "'" : ''}${value ?? ''}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
