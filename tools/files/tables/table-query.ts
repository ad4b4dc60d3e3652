import { MeshError } from '../../../core/contracts/errors.ts';
import type { JsonObject, JsonValue } from '../../../core/contracts/packet.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { shown } from '../find-file.ts';
import type { LoadedFile } from '../load-file.ts';
import { decimalSum, numberIn } from './cell-number.ts';
import { type CellValue, cellText, columnLetters, type SheetRow, type Table, tableOf } from './sheet.ts';
import { sheetNamed, sheetsOf } from './workbook.ts';

export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'contains'] as const;
export const AGGREGATES = [
  'sum',
  'mean',
  'median',
  'min',
  'max',
  'count',
  'count_distinct',
  'list',
  'row_of_max',
  'row_of_min',
] as const;

export interface Condition {
  readonly column: string;
  readonly op: (typeof OPERATORS)[number];
  readonly value: string | number | boolean;
}

export interface TableQuery {
  /** All must hold. */
  readonly where: readonly Condition[];
  readonly aggregate: (typeof AGGREGATES)[number];
  readonly column?: string;
  readonly resultColumn?: string;
}

/** Of `list`. Longer ones are what `count` is for. */
const MAX_LISTED = 1000;
const MAX_LISTED_CHARACTERS = 100_000;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T[\d:]+)?$/;

/**
 * A calculation over the rows of a sheet, the same whenever it is asked.
 *
 * @throws MeshError `tool` for a sheet or column that is not there, naming those that are, and where there is nothing to calculate with
 */
export async function answerQuery(
  file: LoadedFile,
  { sheet: wanted, query }: { readonly sheet?: string; readonly query: TableQuery },
): Promise<DataToolReply> {
  const sheets = await sheetsOf(file);
  const sheet = sheetNamed(
    file,
    sheets,
    wanted ?? (sheets.length === 1 ? (sheets[0]?.name ?? '') : askForSheet(file, sheets)),
  );
  if (!sheet.isWhole) {
    throw new MeshError(
      'tool',
      `sheet ${JSON.stringify(sheet.name)} of ${shown(file.name)} is too large: a result would be of a part of it`,
    );
  }
  const { value, notes } = evaluateIn(
    `${shown(file.name)}, sheet ${JSON.stringify(sheet.name)}`,
    tableOf(sheet),
    query,
  );
  const head = `${shown(file.name)}, sheet ${JSON.stringify(sheet.name)}, ${query.aggregate}${query.column === undefined ? '' : ` of ${JSON.stringify(query.column)}`}`;
  return { text: [`${head}: ${JSON.stringify(value)}`, ...notes].join('\n'), data: { value } };
}

function askForSheet(file: LoadedFile, sheets: readonly { readonly name: string }[]): never {
  const names = sheets.slice(0, 50).map(({ name }) => JSON.stringify(name));
  throw new MeshError(
    'tool',
    `${shown(file.name)} has ${sheets.length} sheets: say in \`sheet\` which one, of ${names.join(', ')}`,
  );
}

function evaluateIn(where: string, table: Table, query: TableQuery): { value: JsonValue; notes: string[] } {
  try {
    const result = evaluate(table, query);
    if (typeof result.value !== 'number' || Number.isFinite(result.value)) return result;
    throw new MeshError('tool', `the ${query.aggregate} is too large for a number`);
  } catch (cause) {
    if (!(cause instanceof MeshError)) throw cause;
    throw new MeshError(cause.code, `${where}: ${cause.message}`, { cause });
  }
}

/** The value of a query, and what a reader should know about it. Pure. */
export function evaluate(table: Table, query: TableQuery): { value: JsonValue; notes: string[] } {
  const { aggregate } = query;
  const conditions = query.where.map((condition) => ({
    ...condition,
    index: columnIndex(table, condition.column),
  }));
  const rows = table.rows.filter((row) =>
    conditions.every((condition) => holds(row.cells[condition.index] ?? null, condition)),
  );
  const notes = [`${rows.length} of ${table.rows.length} rows matched.`, ...totalsAmong(rows)];
  const isRow = aggregate === 'row_of_max' || aggregate === 'row_of_min';
  if (query.resultColumn !== undefined && !isRow) {
    throw new MeshError(
      'tool',
      `result_column goes with row_of_max and row_of_min, not with ${aggregate}: give the column as \`column\``,
    );
  }
  if (query.column === undefined) {
    if (aggregate === 'count') return { value: rows.length, notes };
    throw new MeshError('tool', `${aggregate} needs \`column\`, one of ${columnNames(table)}`);
  }
  const index = columnIndex(table, query.column);
  const filled = rows.filter(({ cells }) => (cells[index] ?? null) !== null);
  const values = filled.map(({ cells }) => cells[index] ?? null);
  switch (aggregate) {
    case 'count':
      return { value: values.length, notes };
    case 'count_distinct':
      return { value: new Set(values.map(comparable)).size, notes };
    case 'list': {
      const listed = fitting(values);
      if (listed.length < values.length)
        notes.push(`Only the first ${listed.length} of ${values.length} values are listed.`);
      return { value: listed, notes };
    }
    case 'sum':
    case 'mean':
    case 'median': {
      const numbers = numbersOf(filled, index, query.column, notes);
      if (aggregate === 'sum') return { value: decimalSum(numbers), notes };
      const value = aggregate === 'mean' ? decimalSum(numbers) / numbers.length : median(numbers);
      return { value: Number(value.toPrecision(15)), notes };
    }
    case 'min':
    case 'max':
    case 'row_of_min':
    case 'row_of_max': {
      const best = extreme(filled, index, query.column, aggregate.endsWith('max'), notes);
      if (!isRow) return { value: best.key, notes };
      notes.push(`It is row ${best.row.number}.`);
      if (query.resultColumn === undefined) return { value: rowObject(table, best.row), notes };
      return { value: best.row.cells[columnIndex(table, query.resultColumn)] ?? null, notes };
    }
  }
}

/** The middle value, or the mean of the two middle values. */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2;
}

function fitting(values: readonly CellValue[]): CellValue[] {
  const listed: CellValue[] = [];
  let characters = 0;
  for (const value of values.slice(0, MAX_LISTED)) {
    characters += cellText(value).length;
    if (characters > MAX_LISTED_CHARACTERS) break;
    listed.push(value);
  }
  return listed;
}

/** By its name, without case, else by its letter. */
function columnIndex(table: Table, wanted: string): number {
  const plain = (name: string) => name.trim().replace(/\s+/g, ' ').toLowerCase();
  const exact = table.columns.indexOf(wanted);
  if (exact >= 0) return exact;
  const similar = table.columns.findIndex((name) => plain(name) === plain(wanted));
  if (similar >= 0) return similar;
  const letter = table.columns.findIndex((_, i) => columnLetters(i) === wanted.trim().toUpperCase());
  if (letter >= 0) return letter;
  throw new MeshError(
    'tool',
    `there is no column ${JSON.stringify(wanted)}: there are ${columnNames(table)}`,
  );
}

function columnNames({ columns }: Table): string {
  if (columns.length === 0) return 'none, since the sheet is empty';
  const more = columns.length > 100 ? `, … (${columns.length})` : '';
  return (
    columns
      .slice(0, 100)
      .map((name) => JSON.stringify(name))
      .join(', ') + more
  );
}

/** Numbers are compared as numbers, else texts without case; dates in ISO 8601 are in order as texts. */
function holds(cell: CellValue, { op, value }: Condition): boolean {
  const left = comparable(cell);
  const right = comparable(value);
  if (op === 'contains') return cellText(cell).toLowerCase().includes(cellText(value).toLowerCase());
  if (op === '=') return left === right;
  if (op === '!=') return left !== right;
  if (typeof left === 'number' && typeof right === 'number') return isInOrder(left, op, right);
  if (typeof left === 'string' && typeof right === 'string' && left !== '') return isInOrder(left, op, right);
  return false;
}

function isInOrder<Key extends number | string>(left: Key, op: '<' | '<=' | '>' | '>=', right: Key): boolean {
  switch (op) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function comparable(value: CellValue): number | string {
  return numberIn(value) ?? cellText(value).trim().toLowerCase();
}

function numbersOf(rows: readonly SheetRow[], index: number, column: string, notes: string[]): number[] {
  const others: string[] = [];
  const numbers: number[] = [];
  for (const { number: rowNumber, cells } of rows) {
    const cell = cells[index] ?? null;
    const number = numberIn(cell);
    if (number === undefined)
      others.push(`row ${rowNumber} ${JSON.stringify(cellText(cell).slice(0, 60).toWellFormed())}`);
    else numbers.push(number);
  }
  if (others.length > 0) {
    notes.push(
      `${others.length} cells that hold no number were left out: ${others.slice(0, 5).join(', ')}${others.length > 5 ? ', …' : ''}`,
    );
  }
  if (numbers.length > 0) return numbers;
  throw new MeshError(
    'tool',
    `column ${JSON.stringify(column)} has no numbers in the rows that matched. ${notes.join(' ')}`,
  );
}

/** The row with the largest or smallest number, or date where all are dates; the first of several. */
function extreme(
  rows: readonly SheetRow[],
  index: number,
  column: string,
  isMax: boolean,
  notes: string[],
): { row: SheetRow; key: number | string } {
  const isDates = rows.length > 0 && rows.every(({ cells }) => DATE.test(cellText(cells[index] ?? null)));
  if (!isDates) numbersOf(rows, index, column, notes);
  let best: { row: SheetRow; key: number | string } | undefined;
  let ties = 0;
  for (const row of rows) {
    const cell = row.cells[index] ?? null;
    const key = isDates ? cellText(cell) : numberIn(cell);
    if (key === undefined) continue;
    if (best === undefined || (isMax ? key > best.key : key < best.key)) {
      best = { row, key };
      ties = 0;
    } else if (key === best.key) {
      ties++;
    }
  }
  if (best === undefined)
    throw new MeshError('tool', `column ${JSON.stringify(column)} is empty in the rows that matched`);
  if (ties > 0) notes.push(`${ties + 1} rows have that value; this is the first.`);
  return best;
}

function rowObject({ columns }: Table, row: SheetRow): JsonObject {
  return Object.fromEntries(columns.map((column, i) => [column, row.cells[i] ?? null]));
}

/** A row of totals at the end of a table doubles its sum. */
function totalsAmong(rows: readonly SheetRow[]): string[] {
  const totals = rows.filter(({ cells }) =>
    cells.some((cell) => typeof cell === 'string' && /^(grand |sub)?totals?:?$|^sum:?$/i.test(cell.trim())),
  );
  if (totals.length === 0) return [];
  const numbers = totals
    .slice(0, 5)
    .map(({ number }) => number)
    .join(', ');
  return [
    `Row ${numbers} looks like a total and is part of this: leave it out with a condition if it should not be.`,
  ];
}
