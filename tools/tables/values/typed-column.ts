import { type DateOrder, detectDateOrder, parseDate, toInstant } from './date.ts';
import { type ClockReading, parseDuration } from './duration.ts';
import { parseNumber } from './number.ts';
import { type DecimalMark, detectMark, findConversion, isKnownUnit, parseQuantity } from './quantity.ts';
import { type CellValue, EMPTY, type Kind, type Quantity, type Value } from './value.ts';

/** The kind of most cells of a column. */
type ColumnKind = Exclude<Kind, 'empty'>;

/** The cells of a column with their types. */
export interface TypedColumn {
  readonly kind: ColumnKind;
  /** Undefined for cells of another kind than the column, and for units that cannot be converted. */
  readonly values: readonly (Value | undefined)[];
  /** The most frequent unit or currency, to which the others were converted; empty without one. */
  readonly unit: string;
  /** True when no cell shows the order of day and month: another reading is as good. */
  readonly isEither: boolean;
  /** Remarks about the reading for its readers, in sentences. */
  readonly notes: readonly string[];
}

/** Smallest share of cells that gives a column its kind; the others are cells that could not be typed. */
const SHARE = 0.5;
/** Minimum cells of eight digits, without any others, that are read as dates. */
const MIN_COMPACT = 3;
const EIGHT_DIGITS = /^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/;
/** Number of cells searched for evidence. */
const MAX_SAMPLE = 20_000;

/** Returns the order of day and month that the dates of a column show; undefined when they show none, or both. */
export function detectOrder(cells: readonly CellValue[]): DateOrder | undefined {
  const shown = new Set<DateOrder>();
  for (const cell of cells.slice(0, MAX_SAMPLE)) {
    const order = typeof cell === 'string' ? detectDateOrder(cell) : undefined;
    if (order !== undefined) shown.add(order);
  }
  return shown.size === 1 ? [...shown][0] : undefined;
}

/**
 * Types the cells of a column: each by itself and, when it has several readings, as the other cells show.
 *
 * @param tableOrder the order of day and month when the column's own dates show none
 */
export function typeColumn(cells: readonly CellValue[], tableOrder?: DateOrder): TypedColumn {
  const filled = cells.filter((cell) => cell !== null && String(cell).trim() !== '');
  const compact = filled.length >= MIN_COMPACT && filled.every((cell) => EIGHT_DIGITS.test(String(cell)));
  const texts = compact ? cells.map(insertDashes) : cells;
  const order = detectOrder(texts) ?? tableOrder;
  const clock = detectClock(texts);
  const mark = detectColumnMark(texts);
  const readings = texts.map((cell) => readCell(cell, { order, clock, mark }));
  const share = (is: (reading: Readings) => boolean) =>
    readings.filter(is).length / Math.max(1, filled.length);
  const isQuantity = detectQuantities(readings);
  const kind = ((): ColumnKind => {
    if (filled.length === 0) return 'text';
    if (share(({ date }) => date !== undefined) > SHARE) return 'date';
    if (share(({ duration }) => duration !== undefined) > SHARE) return 'duration';
    if (share(isQuantity) > SHARE)
      return share(({ quantity }) => quantity?.kind === 'money') > 0 ? 'money' : 'number';
    return share(({ value }) => value.kind === 'truth') > SHARE ? 'truth' : 'text';
  })();
  const notes: string[] = [];
  const isEither = kind === 'date' && order === undefined && readings.some(({ isEither: either }) => either);
  if (
    kind === 'duration' &&
    readings.some(({ isClock }) => isClock) &&
    clock === 'minutes' &&
    !hasSeconds(texts)
  )
    notes.push('two numbers with a colon are read as minutes and seconds');
  const unit = detectUnit(kind, readings);
  const values = readings.map((reading) =>
    reading.value.kind === 'empty' ? EMPTY : convertReading(kind, reading, unit, isQuantity),
  );
  return { kind, values, unit, isEither, notes };
}

interface Readings {
  /** The cell's own type, without regard to the column. */
  readonly value: Value;
  readonly date?: Value | undefined;
  readonly isEither?: boolean;
  readonly duration?: Quantity | undefined;
  readonly isClock?: boolean;
  readonly quantity?: Quantity | undefined;
}

function readCell(
  cell: CellValue,
  {
    order,
    clock,
    mark,
  }: { order: DateOrder | undefined; clock: ClockReading; mark: DecimalMark | undefined },
): Readings {
  if (cell === null) return { value: EMPTY };
  if (typeof cell === 'boolean') return { value: { kind: 'truth', is: cell } };
  if (typeof cell === 'number') {
    const quantity: Quantity = { kind: 'number', number: cell, unit: '' };
    return { value: quantity, quantity };
  }
  if (cell.trim() === '') return { value: EMPTY };
  const reading = parseDate(cell, order);
  const date = reading && toInstant(reading);
  const duration = parseDuration(cell, clock);
  const quantity = parseQuantity(cell, mark);
  // Only a cell that is nothing but a number is one, so that 007 and 7 are the same code.
  const isNumber = quantity !== undefined && parseNumber(cell) !== undefined;
  return {
    value: isNumber ? quantity : { kind: 'text', text: cell },
    date,
    isEither: reading?.isEither === true,
    duration,
    isClock: duration?.isClock === true,
    quantity,
  };
}

/**
 * Returns a test for quantities: numbers whose following word is a unit, either a known one or one that most of them
 * have.
 */
function detectQuantities(readings: readonly Readings[]): (reading: Readings) => boolean {
  const times = new Map<string, number>();
  for (const { quantity } of readings)
    if (quantity !== undefined && quantity.unit !== '')
      times.set(quantity.unit, (times.get(quantity.unit) ?? 0) + 1);
  const most = [...times].sort((a, b) => b[1] - a[1])[0];
  const total = [...times.values()].reduce((sum, count) => sum + count, 0);
  const usual = most !== undefined && most[1] > 1 && most[1] > total * SHARE ? most[0] : undefined;
  return ({ quantity }) =>
    quantity !== undefined &&
    (quantity.kind === 'money' ||
      quantity.unit === '' ||
      isKnownUnit(quantity.unit) ||
      (usual !== undefined && findConversion(quantity.unit, usual) === 1));
}

function detectUnit(kind: ColumnKind, readings: readonly Readings[]): string {
  if (kind !== 'number' && kind !== 'money') return '';
  const times = new Map<string, number>();
  for (const { quantity } of readings)
    if (quantity !== undefined && quantity.unit !== '')
      times.set(quantity.unit, (times.get(quantity.unit) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

function convertReading(
  kind: ColumnKind,
  { value, date, duration, quantity }: Readings,
  unit: string,
  isQuantity: (reading: Readings) => boolean,
): Value | undefined {
  switch (kind) {
    case 'text':
      return value;
    case 'truth':
      return value.kind === 'truth' ? value : undefined;
    case 'date':
      return date;
    case 'duration':
      return duration;
    case 'number':
    case 'money': {
      if (quantity === undefined || !isQuantity({ value, quantity })) return undefined;
      if (quantity.unit === '' || quantity.unit === unit) return quantity;
      const factor = findConversion(quantity.unit, unit);
      return factor === undefined ? undefined : { ...quantity, number: quantity.number * factor, unit };
    }
  }
}

/** Returns hours when no cell shows seconds and all are two-digit hours of a day; minutes otherwise. */
function detectClock(cells: readonly CellValue[]): ClockReading {
  const two = cells.flatMap((cell) =>
    (typeof cell === 'string' ? (/^\s*(\d{1,2}):(\d{2})\s*$/.exec(cell) ?? []) : []).slice(1, 2),
  );
  if (hasSeconds(cells) || two.length === 0) return 'minutes';
  return two.every((hours) => hours.length === 2 && Number(hours) < 24) ? 'hours' : 'minutes';
}

function hasSeconds(cells: readonly CellValue[]): boolean {
  return cells.some((cell) => typeof cell === 'string' && /^\s*\d+:\d{2}(?::\d{2}|\.\d)/.test(cell));
}

/** Returns the decimal mark that the column shows; undefined when it shows none, or both. */
function detectColumnMark(cells: readonly CellValue[]): DecimalMark | undefined {
  const shown = new Set<DecimalMark>();
  for (const cell of cells.slice(0, MAX_SAMPLE)) {
    const mark = typeof cell === 'string' && cell.length <= 60 ? detectMark(cell) : undefined;
    if (mark !== undefined) shown.add(mark);
  }
  return shown.size === 1 ? [...shown][0] : undefined;
}

function insertDashes(cell: CellValue): CellValue {
  return (
    String(cell ?? '').replace(
      EIGHT_DIGITS,
      (text) => `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`,
    ) || null
  );
}
