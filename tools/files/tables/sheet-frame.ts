import { MeshError } from '../../../core/contracts/errors.ts';
import {
  columnOfCells,
  columnOfValues,
  type Frame,
  type FrameColumn,
  withColumn,
} from '../../tables/plan/frame.ts';
import { stackFrames } from '../../tables/plan/join-frames.ts';
import type { DateOrder } from '../../tables/values/date.ts';
import { orderOf, type TypingHints } from '../../tables/values/typed-column.ts';
import { textValue } from '../../tables/values/value.ts';
import { shown } from '../find-file.ts';
import type { LoadedFile } from '../load-file.ts';
import { type Sheet, type SheetRow, type Table, tableOf } from './sheet.ts';
import { sheetNamed, sheetsOf } from './workbook.ts';

/** How dates are read that no column tells apart, and which columns turned out to have such. */
export interface FrameReading {
  /** As the user says. */
  readonly order?: DateOrder | undefined;
  /** Where nothing else tells. */
  readonly otherwise?: DateOrder | undefined;
  /** Hears of each column whose dates may be read in two ways, when it is read. */
  readonly onEither: (column: FrameColumn) => void;
}

/** Every sheet of the file, one below the other. */
const ALL_SHEETS = '*';
const TOTAL = /^(grand |sub)?totals?:?$|^sum:?$/i;

/** A sheet, or all of them, to be seen as a frame in one reading or another. */
export interface SheetTable {
  readonly name: string;
  readonly frame: (reading: FrameReading) => Frame;
}

/** @throws MeshError `tool` for a sheet that is not there, or too large */
export async function sheetTable(file: LoadedFile, wanted: string | undefined): Promise<SheetTable> {
  const sheets = await sheetsOf(file);
  if (wanted === ALL_SHEETS && sheets.length > 1) {
    const tables = sheets
      .filter(({ rows }) => rows.length > 0)
      .map((sheet) => ({ name: sheet.name, table: wholeTable(file, sheet) }));
    return {
      name: ALL_SHEETS,
      frame: (reading) => stackFrames(tables.map(({ name, table }) => namedFrame(name, table, reading))),
    };
  }
  const only =
    sheets.length === 1 && (wanted === undefined || wanted === ALL_SHEETS) ? sheets[0]?.name : wanted;
  const sheet = sheetNamed(file, sheets, only ?? askForSheet(file, sheets));
  const table = wholeTable(file, sheet);
  return { name: sheet.name, frame: (reading) => frameOf(table, reading) };
}

function wholeTable(file: LoadedFile, sheet: Sheet): Table {
  if (sheet.isWhole) return tableOf(sheet);
  throw new MeshError(
    'tool',
    `sheet ${JSON.stringify(sheet.name)} of ${shown(file.name)} is too large: a result would be of a part of it`,
  );
}

/** With the sheet's name in each row. */
function namedFrame(name: string, table: Table, reading: FrameReading): Frame {
  const frame = frameOf(table, reading);
  const labels = frame.labels?.map((label) => `${JSON.stringify(name)} ${label}`);
  const column = columnOfValues(
    'Sheet',
    Array.from({ length: frame.size }, () => textValue(name)),
  );
  return withColumn({ ...frame, labels }, column);
}

function askForSheet(file: LoadedFile, sheets: readonly { readonly name: string }[]): never {
  const names = sheets.slice(0, 50).map(({ name }) => JSON.stringify(name));
  throw new MeshError(
    'tool',
    `${shown(file.name)} has ${sheets.length} sheets: say in \`sheet\` which one, of ${names.join(', ')}, or "${ALL_SHEETS}" for all of them`,
  );
}

export function frameOf({ columns, rows }: Table, { order, otherwise, onEither }: FrameReading): Frame {
  const cells = columns.map((_, i) => rows.map((row) => row.cells[i] ?? null));
  let tableOrder: { readonly order: DateOrder | undefined } | undefined;
  const hints = (): TypingHints => {
    tableOrder ??= { order: cells.map(orderOf).find((found) => found !== undefined) };
    return { order, tableOrder: tableOrder.order ?? otherwise };
  };
  return {
    columns: columns.map((name, i) => {
      const column = columnOfCells(name, cells[i] ?? [], hints);
      let isTold = false;
      const typed = () => {
        const made = column.typed();
        if (made.isEither && !isTold) onEither(column);
        isTold = true;
        return made;
      };
      return { name, typed };
    }),
    size: rows.length,
    labels: rows.map(({ number, cells: own }) => labelOf(number, own)),
  };
}

const TOTAL_MARK = ' (a total?)';

/** A row of totals at the end of a table doubles its sum. */
function labelOf(number: number, cells: SheetRow['cells']): string {
  const isTotal = cells.some((cell) => typeof cell === 'string' && TOTAL.test(cell.trim()));
  return `row ${number}${isTotal ? TOTAL_MARK : ''}`;
}

export function totalsAmong({ labels = [] }: Frame): string[] {
  const totals = labels
    .filter((label) => label.endsWith(TOTAL_MARK))
    .map((label) => label.slice(0, -TOTAL_MARK.length));
  if (totals.length === 0) return [];
  const [first = '', ...others] = totals.slice(0, 5);
  const names = [`R${first.slice(1)}`, ...others].join(', ');
  return [
    `${names} looks like a total and is part of this: leave it out with a condition if it should not be.`,
  ];
}
