import type { CellValue } from './value.ts';

/** Orders of a date's day and month, before its year. */
export type DateOrder = 'dmy' | 'mdy';

/** A date read from a text; its unknown parts are undefined. */
interface DateReading {
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
  /** Seconds since midnight. */
  readonly seconds: number | undefined;
  /**
   * True for `03/04/2024` when the order of day and month is unknown: it was read with the day first, and the other
   * reading is as good.
   */
  readonly isEither: boolean;
}

/** Languages whose names of months, long and short, are read; the runtime provides the names. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt'];
/** Months by name, listed with the first date: loading the languages takes longer than most programs' start. */
let months: ReadonlyMap<string, number> | undefined;
/** Maximum length of a date; longer texts are prose. */
const MAX_CHARACTERS = 60;

const TIME = String.raw`(?:[T,]?\s*(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?\s*(?<half>[ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-]\d{2}:?\d{2})?)?`;
const NAME = String.raw`(?<name>\p{L}{3,}\.?)`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|\.)?`;
const WEEKDAY = String.raw`(?:\p{L}{2,}\.?,?\s+)?`;
const compilePattern = (text: string) => new RegExp(`^${text}$`, 'iu');

const YEAR_FIRST = compilePattern(
  String.raw`(?<year>\d{4})(?<sep>[-/.])(?<month>\d{1,2})(?:\k<sep>(?<day>\d{1,2}))?${TIME}`,
);
const NUMBERS = compilePattern(
  String.raw`(?<first>\d{1,2})(?<sep>[-/.])\s?(?<second_number>\d{1,2})\k<sep>\s?(?<year>\d{4}|\d{2})${TIME}`,
);
const DAY_NAME = compilePattern(
  String.raw`${WEEKDAY}${DAY}(?:\s+of\s+|\s+de\s+|[-\s]+)${NAME}(?:,?(?:\s+de\s+|[-\s]+)'?(?<year>\d{4}|\d{2}))?${TIME}`,
);
const NAME_DAY = compilePattern(String.raw`${WEEKDAY}${NAME}\s+${DAY}(?:(?:,\s*|\s+)(?<year>\d{4}))?${TIME}`);
const NAME_YEAR = compilePattern(String.raw`${NAME}[-,\s]+'?(?<year>\d{4})`);
const YEAR_NAME = compilePattern(String.raw`(?<year>\d{4})[-\s]${NAME}(?:[-\s]${DAY})?`);

/**
 * Parses a text that is a date and nothing else. Numbers are read in the given `order`; without one, day first where
 * both are possible, marked by `isEither`. Two-digit years mean 1969 to 2068, as in POSIX.
 */
export function parseDate(text: string, order?: DateOrder): DateReading | undefined {
  const plain = text.trim();
  if (plain.length > MAX_CHARACTERS || !/\d/.test(plain)) return undefined;
  const numbers = YEAR_FIRST.exec(plain)?.groups;
  if (numbers !== undefined) return checkDate(numbers.year, numbers.month, numbers.day, numbers);
  const either = NUMBERS.exec(plain)?.groups;
  if (either !== undefined) return readOrdered(either, order);
  for (const shape of [DAY_NAME, NAME_DAY, NAME_YEAR, YEAR_NAME]) {
    const groups = shape.exec(plain)?.groups;
    const month = groups && parseMonth(groups.name ?? '');
    if (month !== undefined) return checkDate(groups?.year, String(month), groups?.day, groups ?? {});
  }
  return undefined;
}

type Groups = Readonly<Record<string, string | undefined>>;

function readOrdered(groups: Groups, order: DateOrder | undefined): DateReading | undefined {
  const { first, second_number: second, year } = groups;
  const dayFirst = checkDate(year, second, first, groups);
  const monthFirst = checkDate(year, first, second, groups);
  if (order !== undefined) return (order === 'dmy' ? dayFirst : monthFirst) ?? dayFirst ?? monthFirst;
  if (dayFirst === undefined || monthFirst === undefined) return dayFirst ?? monthFirst;
  // No country writes the month first with points.
  return { ...dayFirst, isEither: dayFirst.day !== dayFirst.month && groups.sep !== '.' };
}

/** Number of cells searched for the order of a column's dates. */
const MAX_SAMPLE = 20_000;

/** Returns the order of day and month that the dates of a column show; undefined when they show none, or both. */
export function detectDateOrder(cells: readonly CellValue[]): DateOrder | undefined {
  const shown = new Set<DateOrder>();
  for (const cell of cells.slice(0, MAX_SAMPLE)) {
    const order = typeof cell === 'string' ? detectTextOrder(cell) : undefined;
    if (order !== undefined) shown.add(order);
  }
  return shown.size === 1 ? [...shown][0] : undefined;
}

/** Returns the only order that a text allows; undefined when it allows several. */
function detectTextOrder(text: string): DateOrder | undefined {
  const groups = NUMBERS.exec(text.trim())?.groups;
  if (groups === undefined) return undefined;
  const [first, second] = [Number(groups.first), Number(groups.second_number)];
  if (groups.sep === '.' || (first > 12 && second <= 12)) return first > 31 ? undefined : 'dmy';
  return second > 12 && first <= 12 ? 'mdy' : undefined;
}

function checkDate(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  { hour, minute, second, half }: Groups,
): DateReading | undefined {
  const [y, m, d] = [year, month, day].map((part) => (part === undefined ? undefined : Number(part)));
  const whole = y === undefined || (year?.length ?? 0) > 2 ? y : y < 69 ? 2000 + y : 1900 + y;
  if (m !== undefined && (m < 1 || m > 12)) return undefined;
  if (d !== undefined && (d < 1 || d > countMonthDays(whole ?? 2024, m ?? 1))) return undefined;
  if (hour === undefined) return { year: whole, month: m, day: d, seconds: undefined, isEither: false };
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
  const isAfternoon = half?.toLowerCase().startsWith('p') === true;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isAfternoon ? 12 : 0);
  const seconds = hours * 3600 + Number(minute) * 60 + Number(second ?? 0);
  return { year: whole, month: m, day: d, seconds, isEither: false };
}

/** Writes a date in ISO 8601, with the precision that it has; undefined when its year is unknown. */
export function formatDate({ year, month, day, seconds }: DateReading): string | undefined {
  if (year === undefined) return undefined;
  const two = (n: number) => String(n).padStart(2, '0');
  const parts = [String(year).padStart(4, '0')];
  const isTimed = seconds !== undefined;
  if (month !== undefined || isTimed) parts.push(two(month ?? 1));
  if (day !== undefined || isTimed) parts.push(two(day ?? 1));
  const date = parts.join('-');
  if (!isTimed || seconds === 0) return date;
  return `${date}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function countMonthDays(year: number, month: number): number {
  // `Date.UTC` would take the years 0 to 99 for those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return date.getUTCDate();
}

/** Returns 1 to 12 for a month's name or its first letters; undefined for other words. */
export function parseMonth(name: string): number | undefined {
  const wanted = foldMonth(name);
  months ??= listMonthNames();
  return months.get(wanted) ?? (wanted === 'sept' ? 9 : undefined);
}

function foldMonth(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{Mn}.]/gu, '')
    .toLowerCase();
}

function listMonthNames(): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const language of LANGUAGES) {
    for (const month of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
      for (let at = 0; at < 12; at++) {
        const name = foldMonth(format.format(Date.UTC(2024, at, 15)));
        if (!names.has(name)) names.set(name, at + 1);
      }
    }
  }
  return names;
}
