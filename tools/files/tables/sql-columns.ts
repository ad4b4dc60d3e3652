import type { DateOrder } from '../../tables/values/date.ts';
import { typeColumn } from '../../tables/values/typed-column.ts';
import { type CellValue, roundNoise } from '../../tables/values/value.ts';
import { formatCell } from './sheet.ts';

type SqlValue = null | number | bigint | string;

/** A column of a database. */
export interface SqlColumn {
  readonly name: string;
  readonly type: 'INTEGER' | 'REAL' | 'TEXT';
  /** The type as a reader should know it: `real (USD)`, `date`. */
  readonly meaning: string;
  readonly values: readonly SqlValue[];
}

/** The name of a sheet's column, and the names of columns that are added when a type loses something. */
export interface ColumnNames {
  readonly own: string;
  readonly asText: string;
  readonly inSeconds: string;
}

/** A sheet's column as columns of a database. */
interface SqlCells {
  readonly columns: readonly SqlColumn[];
  /** Sentences about values that the types cut or could not hold. */
  readonly notes: readonly string[];
  /** True when no date shows the order of its day and month. */
  readonly isEither: boolean;
}

/** The values of a typed column, or the reason why its cells stay texts; the reason is empty for texts. */
type Typing = Pick<SqlColumn, 'type' | 'meaning' | 'values'> | { readonly stays: string };

/** Matches codes such as 007, which are no numbers: their zeros belong to them. */
const LEADING_ZERO = /^0\d+$/;
/** Matches a whole number whose digits stand in groups: `9,007,199,254,740,993`. */
const GROUPED = /^[-+]?\d{1,3}([,.' \u00a0\u202f])\d{3}(?:\1\d{3})*$/;
/** Number of digits of a whole number that a double always holds. */
const EXACT_DIGITS = 15;
const INTEGER_BITS = 64;

/** Number of cells that a note names. */
const SHOWN_CELLS = 5;
const SHOWN_CHARACTERS = 60;

/**
 * Types the cells of a column. A cell that cannot have the type of its column is NULL there, and a further column holds
 * all cells as texts. Durations stay texts, and a further column holds their seconds.
 *
 * @param rows the number of each cell's row in the sheet
 */
export function typeCells(
  names: ColumnNames,
  cells: readonly CellValue[],
  rows: readonly number[],
  tableOrder: DateOrder | undefined,
): SqlCells {
  const typed = typeColumn(cells, tableOrder);
  const texts = cells.map(textOfCell);
  const asText = { type: 'TEXT', meaning: 'text', values: texts } as const;
  const typing = typeValues(typed, texts);
  if ('stays' in typing) {
    const notes = typing.stays === '' ? [] : [`${quote(names.own)} stays text: ${typing.stays}.`];
    return { columns: [{ name: names.own, ...asText }], notes, isEither: false };
  }
  const isDuration = typed.kind === 'duration';
  const name = isDuration ? names.inSeconds : names.own;
  const columns: SqlColumn[] = [
    ...(isDuration ? [{ name: names.own, ...asText, meaning: 'duration as text' }] : []),
    { name, ...typing },
  ];
  const notes = typed.notes.map((note) => `${quote(names.own)}: ${note}.`);
  const { values, meaning } = typing;
  const isLost = (at: number) => texts[at] !== null && values[at] === null;
  const isChanged = (text: string, value: SqlValue) => text !== String(value) && Number(text) !== value;
  const changed = texts.findIndex(
    (text, at) => text !== null && !isLost(at) && isChanged(text, values[at] ?? null),
  );
  if (changed !== -1)
    notes.push(`${quote(name)} has ${values[changed]} for ${quoteCell(texts[changed] ?? '')}, and the like.`);
  const vague =
    typed.kind === 'date' ? values.find((value) => String(value ?? 'a whole date').length < 10) : undefined;
  if (vague !== undefined)
    notes.push(`${quote(name)} has months or years, such as ${vague}, which date functions do not take.`);
  const lost = [...texts.keys()].filter(isLost);
  if (lost.length > 0) {
    if (!isDuration) columns.push({ name: names.asText, ...asText });
    const named = lost.slice(0, SHOWN_CELLS).map((at) => `row ${rows[at]} ${quoteCell(texts[at] ?? '')}`);
    const more = lost.length > SHOWN_CELLS ? ', …' : '';
    notes.push(
      `${lost.length} of ${cells.length} cells of ${quote(names.own)} cannot be read as ${isDuration ? 'duration' : meaning} and are NULL in ${quote(name)}: ${named.join(', ')}${more}. ${quote(isDuration ? names.own : names.asText)} has all cells as they are written.`,
    );
  }
  return { columns, notes, isEither: typed.isEither };
}

function typeValues(
  { kind, values, unit }: ReturnType<typeof typeColumn>,
  texts: readonly SqlValue[],
): Typing {
  switch (kind) {
    case 'text':
      return { stays: '' };
    case 'truth':
      return {
        type: 'INTEGER',
        meaning: 'boolean (1 or 0)',
        values: values.map((value) => (value === null ? null : Number(value))),
      };
    case 'date':
      return {
        type: 'TEXT',
        meaning: 'date',
        values: values.map((value) => (value === null ? null : String(value))),
      };
    case 'duration':
    case 'number':
    case 'money':
      return typeNumbers(values, unit, texts);
  }
}

/** Types numbers so that whole ones stay exact; otherwise the column stays text. */
function typeNumbers(values: readonly CellValue[], unit: string, texts: readonly SqlValue[]): Typing {
  const code = texts.find((text) => LEADING_ZERO.test(String(text)));
  if (code !== undefined) return { stays: `it has codes such as ${quoteCell(code)}` };
  const numbers = values.map((value, at) =>
    typeof value === 'number' ? exactNumber(value, String(texts[at])) : null,
  );
  const long = numbers.indexOf(undefined);
  const isWhole = numbers.every((number) => typeof number !== 'number' || Number.isSafeInteger(number));
  const big = numbers.findIndex((number) => typeof number === 'bigint');
  const inexact = long !== -1 ? long : isWhole ? -1 : big;
  if (inexact !== -1) return { stays: `as a number ${quoteCell(texts[inexact] ?? '')} would be rounded` };
  const type = isWhole ? 'INTEGER' : 'REAL';
  const meaning = type.toLowerCase() + (unit === '' ? '' : ` (${unit})`);
  return { type, meaning, values: numbers.map((number) => number ?? null) };
}

/** Returns the exact number; undefined for a whole number with more digits than a database keeps. */
function exactNumber(number: number, text: string): number | bigint | undefined {
  const isRounded = Number.isInteger(number) && !Number.isSafeInteger(number);
  if (!isRounded || text.replaceAll(/\D/g, '').length <= EXACT_DIGITS) return roundNoise(number);
  const digits = GROUPED.test(text) ? text.replaceAll(/[^-+\d]/g, '') : text;
  if (!/^[-+]?\d+$/.test(digits)) return undefined;
  const whole = BigInt(digits);
  return BigInt.asIntN(INTEGER_BITS, whole) === whole ? whole : undefined;
}

function textOfCell(cell: CellValue): string | null {
  return cell === null ? null : formatCell(cell).trim();
}

/** Quotes a name for SQL. */
export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

const quoteCell = (cell: SqlValue) => JSON.stringify(String(cell).slice(0, SHOWN_CHARACTERS).toWellFormed());
