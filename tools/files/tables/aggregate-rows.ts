import { MeshError } from '../../../core/contracts/errors.ts';
import type { JsonObject, JsonValue } from '../../../core/contracts/packet.ts';
import { AGGREGATES as TAKE } from '../../tables/plan/aggregates.ts';
import { keyOf, orderOf } from '../../tables/plan/compare.ts';
import { columnNamed, columnNames } from '../../tables/plan/find-column.ts';
import { type Frame, type FrameColumn, pickRows, rowsNamed, rowsOf } from '../../tables/plan/frame.ts';
import { type CellValue, isQuantity, type Value, valueJson, valueText } from '../../tables/values/value.ts';

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

/** Of `list`. Longer ones are what `count` is for. */
const MAX_LISTED = 1000;
const MAX_LISTED_CHARACTERS = 100_000;
/** What a query came to, and what a reader should know about it. */
export interface QueryResult {
  readonly value: JsonValue;
  readonly notes: readonly string[];
  /** The result as lines of text, behind what was asked. */
  readonly text: string;
  readonly data: JsonObject;
}

/** As JSON has it, with a unit where there is one. */
export function textOf(value: Value): string {
  const text = JSON.stringify(valueJson(value));
  if (value.kind === 'duration') return `${valueText(value)} (${text} s)`;
  return isQuantity(value) && value.unit !== '' ? `${text} ${value.unit}` : text;
}

/**
 * One value of the rows of a frame.
 *
 * @throws MeshError `tool` where there is nothing to calculate with, naming the columns that are there
 */
export function aggregateResult(
  frame: Frame,
  query: { readonly column?: string; readonly resultColumn?: string },
  aggregate: (typeof AGGREGATES)[number],
  notes: string[],
): QueryResult {
  const made = (value: Value): QueryResult => ({
    value: valueJson(value),
    notes,
    text: textOf(value),
    data: { value: valueJson(value) },
  });
  const isRow = aggregate === 'row_of_max' || aggregate === 'row_of_min';
  if (query.resultColumn !== undefined && !isRow) {
    throw new MeshError(
      'tool',
      `result_column goes with row_of_max and row_of_min, not with ${aggregate}: give the column as \`column\``,
    );
  }
  if (query.column === undefined) {
    if (aggregate === 'count') return made({ kind: 'number', number: frame.size, unit: '' });
    throw new MeshError('tool', `${aggregate} needs \`column\`, one of ${columnNames(frame)}`);
  }
  const column = columnNamed(frame, query.column);
  const { values } = column.typed();
  const filled = rowsOf(frame).filter((row) => values[row]?.kind !== 'empty');
  const own = filled.flatMap((row) => values[row] ?? []);
  switch (aggregate) {
    case 'count':
      return made({ kind: 'number', number: own.length, unit: '' });
    case 'count_distinct':
      return made({ kind: 'number', number: new Set(own.map(keyOf)).size, unit: '' });
    case 'list': {
      const listed = fitting(own.map(cellJson));
      if (listed.length < own.length)
        notes.push(`Only the first ${listed.length} of ${own.length} values are listed.`);
      return { value: listed, notes, text: JSON.stringify(listed), data: { value: listed } };
    }
    case 'sum':
    case 'mean':
    case 'median': {
      const numbers = comparableRows(frame, column, filled, notes, (value) => isQuantity(value)).flatMap(
        (row) => values[row] ?? [],
      );
      return made(TAKE[aggregate]?.(numbers) ?? { kind: 'empty' });
    }
    case 'min':
    case 'max':
    case 'row_of_min':
    case 'row_of_max': {
      const best = extremeRow(frame, column, filled, aggregate.endsWith('max'), notes);
      if (!isRow) return made(values[best] ?? { kind: 'empty' });
      notes.push(`It is ${plainLabel(frame, best)}.`);
      if (query.resultColumn === undefined) {
        const row = rowObject(frame, best);
        return { value: row, notes, text: JSON.stringify(row), data: { value: row } };
      }
      const cell = columnNamed(frame, query.resultColumn).typed().values[best] ?? { kind: 'empty' };
      const value = cellJson(cell);
      return { value, notes, text: JSON.stringify(value), data: { value } };
    }
  }
}

function plainLabel(frame: Frame, row: number): string {
  return frame.labels?.[row]?.replace(/ \(a total\?\)$/, '') ?? `line ${row + 1}`;
}

/** Rows whose cell is a number, a date or whatever the column holds; the others are named. */
function comparableRows(
  frame: Frame,
  column: FrameColumn,
  filled: readonly number[],
  notes: string[],
  is: (value: Value) => boolean,
  what = 'number',
): number[] {
  const { values } = column.typed();
  const fits = (row: number) => is(values[row] ?? { kind: 'empty' });
  const odd = filled.filter((row) => !fits(row));
  if (odd.length > 0)
    notes.push(`${odd.length} cells that hold no ${what} were left out: ${rowsNamed(frame, column, odd)}`);
  const rows = filled.filter(fits);
  if (rows.length > 0) return rows;
  throw new MeshError(
    'tool',
    `column ${JSON.stringify(column.name)} has no ${what}s in the rows that matched. ${notes.join(' ')}`,
  );
}

/** The row with the largest or smallest value; the first of several. */
function extremeRow(
  frame: Frame,
  column: FrameColumn,
  filled: readonly number[],
  isMax: boolean,
  notes: string[],
): number {
  const { values, kind } = column.typed();
  const isOwn = kind === 'date' ? (value: Value) => value.kind === 'date' : isQuantity;
  const rows = comparableRows(frame, column, filled, notes, isOwn, kind === 'date' ? 'date' : 'number');
  const sign = isMax ? 1 : -1;
  const orderTo = (row: number, other: number) => {
    const [one, two] = [values[row], values[other]];
    return one === undefined || two === undefined ? 0 : (orderOf(one, two) ?? 0) * sign;
  };
  const best = rows.reduce((a, b) => (orderTo(b, a) > 0 ? b : a));
  const ties = rows.filter((row) => orderTo(row, best) === 0).length;
  if (ties > 1) notes.push(`${ties} rows have that value; this is the first.`);
  return best;
}

function fitting(values: readonly CellValue[]): CellValue[] {
  const listed: CellValue[] = [];
  let characters = 0;
  for (const value of values.slice(0, MAX_LISTED)) {
    characters += String(value).length;
    if (characters > MAX_LISTED_CHARACTERS) break;
    listed.push(value);
  }
  return listed;
}

/** A cell as it stands in the table. */
const cellJson = (value: Value) => (isQuantity(value) ? (value.text ?? valueJson(value)) : valueJson(value));

function rowObject(frame: Frame, row: number): JsonObject {
  const one = pickRows(frame, [row]);
  return Object.fromEntries(
    one.columns.map(({ name, typed }) => [name, cellJson(typed().values[0] ?? { kind: 'empty' })]),
  );
}
