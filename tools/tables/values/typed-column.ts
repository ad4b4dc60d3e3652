import { type DateOrder, detectDateOrder, formatDate, parseDate } from './date.ts';
import { parseDuration } from './duration.ts';
import { parseNumber } from './number.ts';
import type { CellValue } from './value.ts';

/** The first unit of a duration of two numbers: `4:05`. */
type ClockReading = 'minutes' | 'hours';

/** The decimal mark of a number. */
type DecimalMark = '.' | ',';

const CURRENCIES: Readonly<Record<string, string>> = {
  $: 'USD',
  us$: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₽': 'RUB',
  '₩': 'KRW',
};
const CODE = /USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|NZD|SGD|HKD|KRW|RUB|TRY/;
const CURRENCY = new RegExp(`US\\$|[$€£¥₹₽₩]|\\b(?:${CODE.source})\\b`, 'i');
const SCALES: Readonly<Record<string, number>> = {
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
  k: 1e3,
  mn: 1e6,
  m: 1e6,
  bn: 1e9,
  b: 1e9,
};
/** Letters that mean a number's size only beside a currency: `5 m` alone is five metres. */
const SCALE_WORD = /^(thousand|million|billion|trillion)\b\s*/i;
const SCALE_LETTER = /^(k|mn|m|bn|b)\b\s*/i;
/** Matches a number and the unit after it. */
const WITH_UNIT =
  /^([-+−(]?\s*[\d.,' \u00a0\u202f]*\d\)?)\s*(\p{L}[\p{L}\d²³/·^.-]{0,14}|°\s?\p{L}?|[²³'"])?\s*$/u;
/** `1,234[5]`, `12*`, `7†`: marks of notes below the table. */
const NOTE_MARK = /(?:\s*\[[^\]]{1,12}\]|[*†‡])+$/u;
const MAX_CHARACTERS = 60;

/** Units of one measure, each in terms of the first. */
const MEASURES: readonly Readonly<Record<string, number>>[] = [
  {
    m: 1,
    mm: 0.001,
    cm: 0.01,
    km: 1000,
    metres: 1,
    meters: 1,
    mi: 1609.344,
    miles: 1609.344,
    ft: 0.3048,
    feet: 0.3048,
  },
  { g: 1, mg: 0.001, kg: 1000, t: 1e6, tonnes: 1e6, lb: 453.59237, lbs: 453.59237, oz: 28.349523125 },
  { l: 1, ml: 0.001, cl: 0.01, hl: 100, litres: 1, liters: 1 },
  { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
  { w: 1, kw: 1e3, mw: 1e6, gw: 1e9 },
];

/** The cells of a column with their types. */
interface TypedColumn {
  /** The kind of most cells. */
  readonly kind: 'text' | 'truth' | 'date' | 'duration' | 'number' | 'money';
  /**
   * Dates in ISO 8601, durations in seconds, percentages as fractions. Null for empty cells, cells of another kind than
   * the column, and units that cannot be converted.
   */
  readonly values: readonly CellValue[];
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

/**
 * Types the cells of a column: each by itself and, when it has several readings, as the other cells show.
 *
 * @param tableOrder the order of day and month when the column's own dates show none
 */
export function typeColumn(cells: readonly CellValue[], tableOrder?: DateOrder): TypedColumn {
  const filled = cells.filter((cell) => cell !== null && String(cell).trim() !== '');
  const compact = filled.length >= MIN_COMPACT && filled.every((cell) => EIGHT_DIGITS.test(String(cell)));
  const texts = compact ? cells.map(insertDashes) : cells;
  const order = detectDateOrder(texts) ?? tableOrder;
  const clock = detectClock(texts);
  const mark = detectColumnMark(texts);
  const readings = texts.map((cell) => readCell(cell, { order, clock, mark }));
  const share = (is: (reading: Readings) => boolean) =>
    readings.filter(is).length / Math.max(1, filled.length);
  const isQuantity = detectQuantities(readings);
  const kind = ((): TypedColumn['kind'] => {
    if (filled.length === 0) return 'text';
    if (share(({ date }) => date !== undefined) > SHARE) return 'date';
    if (share(({ duration }) => duration !== undefined) > SHARE) return 'duration';
    if (share(isQuantity) > SHARE)
      return share(({ quantity }) => quantity?.isMoney === true) > 0 ? 'money' : 'number';
    return share(({ truth }) => truth !== undefined) > SHARE ? 'truth' : 'text';
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
  const values =
    kind === 'text' ? cells : readings.map((reading) => convertReading(kind, reading, unit, isQuantity));
  return { kind, values, unit, isEither, notes };
}

/** An amount; `unit` is `km` or `EUR`, and empty without one. */
interface Quantity {
  readonly number: number;
  readonly unit: string;
  readonly isMoney: boolean;
}

/** Everything that a cell may mean, without regard to the column; nothing for an empty cell. */
interface Readings {
  readonly truth?: boolean;
  readonly date?: string | undefined;
  readonly isEither?: boolean;
  readonly duration?: number | undefined;
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
  if (cell === null) return {};
  if (typeof cell === 'boolean') return { truth: cell };
  if (typeof cell === 'number') return { quantity: { number: cell, unit: '', isMoney: false } };
  if (cell.trim() === '') return {};
  const reading = parseDate(cell, order);
  const duration = parseDuration(cell, clock);
  return {
    date: reading && formatDate(reading),
    isEither: reading?.isEither === true,
    duration: duration?.seconds,
    isClock: duration?.isClock === true,
    quantity: parseQuantity(cell, mark),
  };
}

/**
 * Returns a test for quantities: numbers whose following word is a unit, either a known one or one that most of them
 * have.
 */
function detectQuantities(readings: readonly Readings[]): (reading: Readings) => boolean {
  const units = countUnits(readings);
  const [most] = units;
  const total = units.reduce((sum, [, count]) => sum + count, 0);
  const usual = most !== undefined && most[1] > 1 && most[1] > total * SHARE ? most[0] : undefined;
  return ({ quantity }) =>
    quantity !== undefined &&
    (quantity.isMoney ||
      quantity.unit === '' ||
      isKnownUnit(quantity.unit) ||
      (usual !== undefined && findConversion(quantity.unit, usual) === 1));
}

function detectUnit(kind: TypedColumn['kind'], readings: readonly Readings[]): string {
  if (kind !== 'number' && kind !== 'money') return '';
  return countUnits(readings)[0]?.[0] ?? '';
}

/** Counts the units of the quantities, the most frequent first. */
function countUnits(readings: readonly Readings[]): [unit: string, count: number][] {
  const times = new Map<string, number>();
  for (const { quantity } of readings)
    if (quantity !== undefined && quantity.unit !== '')
      times.set(quantity.unit, (times.get(quantity.unit) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1]);
}

function convertReading(
  kind: Exclude<TypedColumn['kind'], 'text'>,
  { truth, date, duration, quantity }: Readings,
  unit: string,
  isQuantity: (reading: Readings) => boolean,
): CellValue {
  switch (kind) {
    case 'truth':
      return truth ?? null;
    case 'date':
      return date ?? null;
    case 'duration':
      return duration ?? null;
    case 'number':
    case 'money': {
      if (quantity === undefined || !isQuantity({ quantity })) return null;
      if (quantity.unit === '' || quantity.unit === unit) return quantity.number;
      const factor = findConversion(quantity.unit, unit);
      return factor === undefined ? null : quantity.number * factor;
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

/**
 * Parses a text that is a quantity: a number as {@link parseNumber} reads it, with a currency, a word for its size
 * (`1.2 million`) or a unit (`5 km`). `mark` is the decimal mark that the column's other cells show.
 */
function parseQuantity(text: string, mark?: DecimalMark): Quantity | undefined {
  if (text.length > MAX_CHARACTERS || !/\d/.test(text)) return undefined;
  const plain = text.trim().replace(NOTE_MARK, '');
  const currency = CURRENCY.exec(plain)?.[0];
  const unit = currency === undefined ? '' : (CURRENCIES[currency.toLowerCase()] ?? currency.toUpperCase());
  const isMoney = currency !== undefined;
  const number = parseNumber(replaceMark(plain, mark));
  if (number !== undefined) return { number, unit, isMoney };
  const rest = isMoney ? plain.replace(CURRENCY, '').trim() : plain;
  const at = rest.search(/\p{L}/u);
  const [head, tail] = at < 0 ? [rest, ''] : [rest.slice(0, at).trim(), rest.slice(at)];
  const scale = SCALE_WORD.exec(tail) ?? (isMoney ? SCALE_LETTER.exec(tail) : null);
  if (scale !== null) {
    const base = parseNumber(replaceMark(head, mark));
    const left = tail.slice(scale[0].length).trim();
    if (base === undefined || left.length > 15 || /\d/.test(left) || (isMoney && left !== ''))
      return undefined;
    const size = SCALES[(scale[1] ?? '').toLowerCase()] ?? 1;
    return { number: Number((base * size).toPrecision(15)), unit: unit || left, isMoney };
  }
  const parts = WITH_UNIT.exec(rest);
  if (parts === null || isMoney || parts[2] === undefined) return undefined;
  const value = parseNumber(replaceMark((parts[1] ?? '').trim(), mark));
  return value === undefined ? undefined : { number: value, unit: parts[2].replace(/\.$/, ''), isMoney };
}

/** Applies the column's decimal mark: `1.234` is a thousand when the other cells are like `5,50`. */
function replaceMark(text: string, mark: DecimalMark | undefined): string {
  if (mark === ',' && /^\D*\d{1,3}(?:\.\d{3})+\D*$/.test(text)) return text.replaceAll('.', '');
  if (mark === ',' && /^\D*\d+,\d{3}\D*$/.test(text)) return text.replace(',', '.');
  return text;
}

/** Returns the only decimal mark that a text allows; undefined when it allows both. */
function detectMark(text: string): DecimalMark | undefined {
  const digits = /\d[\d.,]*/.exec(text)?.[0] ?? '';
  if (/^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$|^\d+,(?:\d{1,2}|\d{4,})$|^\d{4,},\d+$/.test(digits))
    return ',';
  if (
    /^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$|^\d+\.(?:\d{1,2}|\d{4,})$|^\d{4,}\.\d+$/.test(digits)
  )
    return '.';
  return undefined;
}

/** Returns the number of `to` in one `from`; undefined when they measure different things. */
function findConversion(from: string, to: string): number | undefined {
  const [one, other] = [from.toLowerCase(), to.toLowerCase()];
  if (one === other || `${one}s` === other || one === `${other}s`) return 1;
  const measure = MEASURES.find((units) => Object.hasOwn(units, one) && Object.hasOwn(units, other));
  return measure === undefined ? undefined : (measure[one] ?? 1) / (measure[other] ?? 1);
}

function isKnownUnit(unit: string): boolean {
  return MEASURES.some((units) => Object.hasOwn(units, unit.toLowerCase()));
}
