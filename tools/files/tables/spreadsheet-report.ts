import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { parseNumber } from '../../tables/values/number.ts';
import type { CellValue } from '../../tables/values/value.ts';
import { type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { renderMarkdownTable } from './markdown-table.ts';
import { formatCell, MAX_CELL_CHARACTERS, type Sheet, type SheetRow, toColumnLetters } from './sheet.ts';
import { readSheets } from './workbook.ts';

/** Default number of rows of each sheet in a reply. */
const DEFAULT_ROWS = 200;
/** Maximum characters of a reply, so that it is cut between rows rather than within one. */
const MAX_TEXT_CHARACTERS = 150_000;
/** Maximum cells of the data for programs. */
const MAX_DATA_CELLS = 20_000;
/** Maximum formulas, comments, merged ranges or ranges of one colour in a reply. */
const MAX_NOTES = 200;

/**
 * Returns the sheets of a spreadsheet as Markdown tables and as data.
 *
 * @throws MeshError `tool`
 */
export async function reportSpreadsheet(
  file: LoadedFile,
  wanted: string | undefined,
  maxRows = DEFAULT_ROWS,
): Promise<DataToolReply> {
  const all = await readSheets(file);
  const sheets = wanted === undefined ? all : [findSheet(file, all, wanted)];
  const names = all.map(({ name, above, header, rows, isHidden }) => {
    const count = above.length + (header === undefined ? 0 : 1) + rows.length;
    return `${quoteFileName(name)} (${count} rows${isHidden ? ', hidden' : ''})`;
  });
  const parts = [
    `${quoteFileName(file.name)}: spreadsheet, ${file.bytes.length} bytes, ${all.length} sheets: ${names.join(', ')}`,
  ];
  const data: JsonObject[] = [];
  let characters = 0;
  let cells = 0;
  for (const sheet of sheets) {
    const text = formatSheet(sheet, maxRows, MAX_TEXT_CHARACTERS - characters);
    characters += text.length;
    parts.push(text);
    const rowLimit = Math.min(
      maxRows,
      Math.floor((MAX_DATA_CELLS - cells) / Math.max(1, sheet.columns.length)),
    );
    const rows = sheet.rows.slice(0, Math.max(0, rowLimit));
    cells += rows.length * sheet.columns.length;
    data.push(buildSheetData(sheet, rows));
  }
  return { text: parts.join('\n\n'), data: { sheets: data } };
}

/**
 * Finds a sheet by its name, ignoring case.
 *
 * @throws MeshError `tool`, naming the existing sheets
 */
function findSheet(file: LoadedFile, sheets: readonly Sheet[], wanted: string): Sheet {
  const sheet =
    sheets.find(({ name }) => name === wanted) ??
    sheets.find(({ name }) => name.trim().toLowerCase() === wanted.trim().toLowerCase());
  if (sheet !== undefined) return sheet;
  const names = sheets.slice(0, 50).map(({ name }) => JSON.stringify(name));
  throw new MeshError(
    'tool',
    `${quoteFileName(file.name)} has no sheet ${JSON.stringify(wanted)}: it has ${names.join(', ')}`,
  );
}

function formatSheet(sheet: Sheet, maxRows: number, room: number): string {
  const lines = [
    `## Sheet ${JSON.stringify(sheet.name)}: ${sheet.rows.length} rows below the header, ${sheet.columns.length} columns`,
  ];
  for (const { number, cells } of sheet.above)
    lines.push(`Row ${number}: ${cells.filter((cell) => cell !== null).join(' ')}`);
  if (sheet.header === undefined) lines.push('The sheet holds no values.');
  else lines.push(...formatTableLines(sheet, sheet.header, maxRows, room));
  if (!sheet.isWhole) lines.push('[the sheet is too large: rows or columns at its end were left out]');
  lines.push(
    ...noteLines('Formulas', sheet.formulas),
    ...noteLines('Comments', sheet.comments),
    ...noteLines('Merged cells', sheet.merged),
    ...[...sheet.fills].slice(0, MAX_NOTES).flatMap(([colour, { cells, ranges }]) => {
      const name = nameColour(colour);
      const title = `Filled with ${colour}${name === undefined ? '' : ` (${name})`}, ${cells} cells`;
      return noteLines(title, ranges);
    }),
  );
  return lines.join('\n');
}

function formatTableLines(
  { columns, rows }: Sheet,
  header: SheetRow,
  maxRows: number,
  room: number,
): string[] {
  const titles = [
    'row',
    ...columns.map((column, i) =>
      column === toColumnLetters(i) ? column : `${toColumnLetters(i)}: ${column}`,
    ),
  ];
  const table: string[][] = [titles];
  let characters = 0;
  for (const { number, cells } of rows.slice(0, maxRows)) {
    const line = [String(number), ...columns.map((_, i) => formatCell(cells[i] ?? null))];
    characters += line.reduce((sum, cell) => sum + Math.min(cell.length, MAX_CELL_CHARACTERS) + 3, 0);
    if (characters > room) break;
    table.push(line);
  }
  const lines = [
    `The header is row ${header.number}.`,
    '',
    ...renderMarkdownTable(table, MAX_CELL_CHARACTERS),
    '',
  ];
  const left = rows.length - (table.length - 1);
  if (left > 0) lines.push(`[cut: ${left} more rows; ask with max_rows, or calculate with query_table]`);
  return lines;
}

/** Builds the data of a sheet, with `rows_left_out` when not all rows fit. */
function buildSheetData({ name, columns, rows: all }: Sheet, rows: readonly SheetRow[]): JsonObject {
  const cells = rows.map((row) => columns.map((_, i) => shortenCell(row.cells[i] ?? null)));
  const left = all.length - rows.length;
  const data = { name, columns: [...columns], rows: cells };
  return left > 0 ? { ...data, rows_left_out: left } : data;
}

function shortenCell(value: CellValue): CellValue {
  const isLong = typeof value === 'string' && value.length > MAX_CELL_CHARACTERS;
  return isLong ? `${value.slice(0, MAX_CELL_CHARACTERS).toWellFormed()}…` : value;
}

function noteLines(title: string, notes: readonly string[]): string[] {
  if (notes.length === 0) return [];
  const more = notes.length > MAX_NOTES ? `; [and ${notes.length - MAX_NOTES} more]` : '';
  return [`${title}: ${notes.slice(0, MAX_NOTES).join('; ')}${more}`];
}

const COLOURS: readonly (readonly [name: string, rgb: number])[] = [
  ['black', 0x000000],
  ['white', 0xffffff],
  ['grey', 0x808080],
  ['light grey', 0xd3d3d3],
  ['red', 0xff0000],
  ['dark red', 0x8b0000],
  ['pink', 0xffc0cb],
  ['orange', 0xffa500],
  ['light orange', 0xfbd5b5],
  ['yellow', 0xffff00],
  ['light yellow', 0xffffcc],
  ['brown', 0x8b4513],
  ['green', 0x00ff00],
  ['dark green', 0x006400],
  ['green', 0x008000],
  ['green', 0x00b050],
  ['light green', 0x90ee90],
  ['light green', 0xc6efce],
  ['cyan', 0x00ffff],
  ['teal', 0x008080],
  ['blue', 0x0000ff],
  ['blue', 0x4472c4],
  ['dark blue', 0x00008b],
  ['light blue', 0xadd8e6],
  ['blue', 0x00b0f0],
  ['purple', 0x800080],
  ['purple', 0x7030a0],
  ['light purple', 0xccc0da],
  ['magenta', 0xff00ff],
];

/**
 * Returns the name of the nearest colour, so that a question can ask for green cells; undefined when `rgb` is not six
 * hexadecimal digits.
 */
function nameColour(rgb: string): string | undefined {
  if (!/^[0-9A-F]{6}$/i.test(rgb)) return undefined;
  const value = Number.parseInt(rgb, 16);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [name, other] of COLOURS) {
    const distance =
      squareDistance(value >> 16, other >> 16) +
      squareDistance((value >> 8) & 255, (other >> 8) & 255) +
      squareDistance(value & 255, other & 255);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

const squareDistance = (a: number, b: number) => (a - b) ** 2;

/** Maximum cells of a workbook that a question's program works on; rows beyond it are left out. */
const MAX_CELLS = 300_000;

/**
 * Returns the sheets of a spreadsheet as `[{ name, columns, rows }]` in JSON. Numbers of a CSV file become numbers.
 *
 * @throws MeshError `tool`
 */
export async function exportSheetCells(file: LoadedFile): Promise<string> {
  let room = MAX_CELLS;
  const sheets = (await readSheets(file)).map(({ name, columns, rows }) => {
    const kept = rows.slice(0, Math.floor(room / Math.max(1, columns.length)));
    room -= kept.length * columns.length;
    return {
      name,
      columns,
      rows: kept.map(({ cells }) => columns.map((_, i) => plain(cells[i] ?? null))),
    };
  });
  return JSON.stringify(sheets);
}

/** Converts a text to a number, but leaves codes such as 007. */
function plain(cell: CellValue): CellValue {
  if (typeof cell !== 'string' || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(cell)) return cell;
  return parseNumber(cell) ?? cell;
}
