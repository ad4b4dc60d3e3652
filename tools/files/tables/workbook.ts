import type { CellObject, WorkSheet } from '@e965/xlsx';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import { type CellValue, roundNoise } from '../../tables/values/value.ts';
import { checkZip } from '../archives/zip-archive.ts';
import { detectFileKind } from '../file-kind.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { readExtension } from '../reading/readers.ts';
import { decodeText } from '../text-encoding.ts';
import {
  MAX_COLUMNS,
  MAX_ROWS,
  makeNamesUnique,
  type Sheet,
  type SheetRow,
  toColumnLetters,
} from './sheet.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Length of the beginning that is searched for the delimiter. */
const SAMPLE_CHARACTERS = 16 * 1024;
/** Maximum length of a record; a longer one has a quote that was never closed. */
const MAX_RECORD_CHARACTERS = 1024 * 1024;

/**
 * Parses a CSV file of any delimiter and encoding to a sheet. Values stay texts: `007` is not a number.
 *
 * @throws MeshError `tool` for a file that is not text
 */
async function parseCsvSheet(file: LoadedFile): Promise<Sheet> {
  const decoded = decodeText(file.bytes);
  if (decoded === undefined) {
    throw new MeshError(
      'tool',
      `${quoteFileName(file.name)} (${file.bytes.length} bytes) is not a spreadsheet: neither XLSX, XLS, ODS nor text`,
    );
  }
  const { text } = decoded;
  const { parse } = await import('csv-parse/sync');
  const delimiter = detectDelimiter(text, readExtension(file.name) === 'tsv');
  const records = await fromLibrary(file, 'CSV', (): unknown =>
    parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_RECORD_CHARACTERS,
      to: MAX_ROWS + 1,
    }),
  );
  const rows = (Array.isArray(records) ? records : []).map((record, i) => toSheetRow(record, i));
  return {
    name: 'CSV',
    isHidden: false,
    ...arrangeRows(rows.slice(0, MAX_ROWS).filter(({ cells }) => cells.some((cell) => cell !== null))),
    isWhole: rows.length <= MAX_ROWS && rows.every(({ cells }) => cells.length <= MAX_COLUMNS),
    formulas: [],
    comments: [],
    merged: [],
    fills: new Map(),
  };
}

function toSheetRow(record: unknown, index: number): SheetRow {
  const cells = (Array.isArray(record) ? record : []).map((cell): CellValue => {
    const text = String(cell).toWellFormed();
    return text.trim() === '' ? null : text;
  });
  return { number: index + 1, cells: cells.slice(0, MAX_COLUMNS + 1) };
}

/** Number of rows at the top that are searched for a header. */
const HEADER_ROWS = 20;

/**
 * Arranges the rows that are not empty as a table. Takes as header the first row that is at least half as full as the fullest near the top: titles above a table fill a
 * cell or two. Columns without a name are named by their letter, and repeated names are numbered.
 */
function arrangeRows(rows: readonly SheetRow[]): Pick<Sheet, 'above' | 'header' | 'columns' | 'rows'> {
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

/** Returns the delimiter that the first lines have equally often, and most often. */
function detectDelimiter(text: string, isTabbed: boolean): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS).replace(/"[^"]*"/g, '');
  const lines = sample
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20);
  if (isTabbed && sample.includes('\t')) return '\t';
  let best: string = DELIMITERS[0];
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const first = counts[0] ?? 0;
    const alike = counts.filter((count) => count === first).length;
    const score = first === 0 ? 0 : alike * 1000 + Math.min(first, 999);
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

type Library = typeof import('@e965/xlsx');

/** Maximum sheets of a workbook. */
const MAX_SHEETS = 500;

const codesSchema = z.object({
  y: z.number(),
  m: z.number(),
  d: z.number(),
  H: z.number(),
  M: z.number(),
  S: z.number(),
});
const fillSchema = z.object({
  patternType: z.string(),
  fgColor: z.object({ rgb: z.string().optional(), theme: z.number().optional() }).optional(),
});

/**
 * Reads the sheets of an XLSX, XLSM, XLSB, XLS, ODS, CSV or TSV file. The first bytes decide its kind, since the
 * library takes anything for CSV. Only XLSX files have colours of fills.
 *
 * @throws MeshError `tool` for other files, and for one that is damaged or protected by a password
 */
export async function readSheets(file: LoadedFile): Promise<Sheet[]> {
  const kind = detectFileKind(file.bytes)?.kind;
  if (kind !== 'zip' && kind !== 'cfb' && !isMarkup(file.bytes)) return [await parseCsvSheet(file)];
  if (kind === 'zip') checkZip(file);
  const library = await import('@e965/xlsx');
  return fromLibrary(file, 'a spreadsheet', () => {
    const book = library.read(file.bytes, {
      type: 'array',
      dense: true,
      cellFormula: true,
      // Setting `cellDates`, too, would lose texts in columns of dates.
      cellNF: true,
      cellStyles: true,
      cellHTML: false,
      sheetStubs: true,
    });
    if (book.SheetNames.length === 0) throw new Error('it has no sheets');
    const reader = new CellReader(library, book.Workbook?.WBProps?.date1904 === true);
    return book.SheetNames.slice(0, MAX_SHEETS).map((name, i) => {
      const sheet = book.Sheets[name];
      return reader.sheet(name.toWellFormed(), sheet ?? {}, (book.Workbook?.Sheets?.[i]?.Hidden ?? 0) !== 0);
    });
  });
}

/** Returns true if a file is HTML or XML, which some programs write and call `.xls`. */
function isMarkup(bytes: Uint8Array): boolean {
  return /^\uFEFF?\s*<(\?xml|html|table|!doctype html|workbook)/i.test(
    new TextDecoder().decode(bytes.subarray(0, 200)),
  );
}

class CellReader {
  readonly #library: Library;
  readonly #date1904: boolean;
  /** Colours by style, since cells share the few styles of a book. */
  readonly #colours = new Map<unknown, string | undefined>();

  constructor(library: Library, date1904: boolean) {
    this.#library = library;
    this.#date1904 = date1904;
  }

  sheet(name: string, sheet: WorkSheet, isHidden: boolean): Sheet {
    const grid: readonly (readonly (CellObject | undefined)[] | undefined)[] = sheet['!data'] ?? [];
    const rows: SheetRow[] = [];
    const formulas: string[] = [];
    const comments: string[] = [];
    const fills = new Map<string, FilledRange[]>();
    let isWhole = true;
    grid.forEach((line, row) => {
      const cells: CellValue[] = [];
      // The array's holes are skipped: a sheet may have its only cell in its last row and column.
      line?.forEach((cell, column) => {
        if (column >= MAX_COLUMNS) isWhole = false;
        if (cell === undefined || column >= MAX_COLUMNS) return;
        const value = this.#value(cell);
        if (value !== null) {
          while (cells.length < column) cells.push(null);
          cells.push(value);
        }
        if (cell.f !== undefined) formulas.push(`${formatCellName(row, column)} =${cell.f}`.toWellFormed());
        for (const { t } of cell.c ?? [])
          comments.push(`${formatCellName(row, column)} ${JSON.stringify(String(t).toWellFormed())}`);
        const colour = this.#colour(cell.s);
        if (colour !== undefined) addFilledCell(fills, colour, row, column);
      });
      if (cells.length > 0 && rows.length === MAX_ROWS) isWhole = false;
      else if (cells.length > 0) rows.push({ number: row + 1, cells });
    });
    const merged = (sheet['!merges'] ?? []).map((range) => this.#library.utils.encode_range(range));
    return {
      name,
      isHidden,
      ...arrangeRows(rows),
      isWhole,
      formulas,
      comments,
      merged,
      fills: formatFills(fills),
    };
  }

  #value(cell: CellObject): CellValue {
    const { t, v, w, z: format } = cell;
    // A formula that was never calculated has no value; the library says 0.
    if (t === 'z' || v === undefined) return null;
    if (t === 'e') return w ?? '#ERROR!';
    if (v instanceof Date)
      return v
        .toISOString()
        .replace(/T00:00:00.*$/, '')
        .replace(/\.\d+Z$/, '');
    if (typeof v === 'number' && !Number.isFinite(v)) return w ?? null;
    if (typeof v === 'number') return this.#date(v, String(format ?? ''), w) ?? roundNoise(v);
    if (typeof v === 'string') return v.trim() === '' ? null : v.toWellFormed();
    return v;
  }

  /** Converts a number to a date by its format, since spreadsheets store dates as days since 1900 or 1904. */
  #date(days: number, format: string, shown: string | undefined): string | undefined {
    const { SSF } = this.#library;
    if (format === '' || SSF.is_date(format) !== true) return undefined;
    // Hours beyond a day are a duration and no time of day.
    if (/\[[hms]+\]/i.test(format)) return shown;
    const codes = codesSchema.safeParse(SSF.parse_date_code(days, { date1904: this.#date1904 })).data;
    if (codes === undefined) return undefined;
    const two = (n: number) => String(n).padStart(2, '0');
    const date = `${String(codes.y).padStart(4, '0')}-${two(codes.m)}-${two(codes.d)}`;
    const time = `${two(codes.H)}:${two(codes.M)}:${two(codes.S)}`;
    if (days >= 0 && days < 1) return time;
    return time === '00:00:00' ? date : `${date}T${time}`;
  }

  #colour(style: unknown): string | undefined {
    if (style === undefined) return undefined;
    if (!this.#colours.has(style)) this.#colours.set(style, readColour(style));
    return this.#colours.get(style);
  }
}

/** Neighbours in a row that are filled with one colour, counted from 0. */
interface FilledRange {
  readonly row: number;
  readonly first: number;
  last: number;
}

function addFilledCell(fills: Map<string, FilledRange[]>, colour: string, row: number, column: number): void {
  const ranges = fills.get(colour) ?? [];
  fills.set(colour, ranges);
  const range = ranges.at(-1);
  if (range?.row === row && range.last === column - 1) range.last = column;
  else ranges.push({ row, first: column, last: column });
}

function formatFills(fills: ReadonlyMap<string, readonly FilledRange[]>): Sheet['fills'] {
  return new Map(
    [...fills].map(([colour, ranges]) => {
      const names = ranges.map(({ row, first, last }) =>
        first === last
          ? formatCellName(row, first)
          : `${formatCellName(row, first)}:${formatCellName(row, last)}`,
      );
      const cells = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      return [colour, { cells, ranges: names }];
    }),
  );
}

/** Returns `B3` for row 2, column 1. */
function formatCellName(row: number, column: number): string {
  return `${toColumnLetters(column)}${row + 1}`;
}

function readColour(style: unknown): string | undefined {
  const fill = fillSchema.safeParse(style).data;
  // `gray125` is in every file and is not a colour that its author chose.
  if (fill === undefined || fill.patternType === 'none' || fill.patternType === 'gray125') return undefined;
  const { rgb, theme } = fill.fgColor ?? {};
  if (rgb !== undefined) return rgb.slice(-6).toUpperCase();
  return theme === undefined ? 'a colour that is not stored as RGB' : `theme colour ${theme}`;
}
