/** A day of the calendar. */
export interface CalendarDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

const MONTH = `(?:${MONTHS.map((name) => (name === 'may' ? name : `${name.slice(0, 3)}(?:${name.slice(3)})?${name === 'september' ? '|sept' : ''}`)).join('|')})\\.?`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(\d{4})`;
const DATE = new RegExp(
  [
    `\\b${DAY}(?: of)? (${MONTH}),? ${YEAR}\\b`,
    `\\b(${MONTH}) (?:the )?${DAY},? ${YEAR}\\b`,
    String.raw`\b(\d{4})-(\d{2})-(\d{2})(?!\d)`,
  ].join('|'),
  'gi',
);
const MONTH_OF_YEAR = new RegExp(`\\b(${MONTH})(?: of)?,? ${YEAR}\\b`, 'gi');

/** The dates in a text, in its order: `4 March 2021`, `March 4, 2021`, `2021-03-04`. Others are too ambiguous. */
export function readDates(text: string): CalendarDate[] {
  return foundDates(text).map(({ date }) => date);
}

export interface FoundDate {
  readonly date: CalendarDate;
  readonly start: number;
  readonly end: number;
}

export function foundDates(text: string): FoundDate[] {
  const found: FoundDate[] = [];
  for (const match of text.matchAll(DATE)) {
    const [whole, d1, m1, y1, m2, d2, y2, y3, m3, d3] = match;
    const date = {
      year: Number(y1 ?? y2 ?? y3),
      month: m3 === undefined ? monthNumber(m1 ?? m2 ?? '') : Number(m3),
      day: Number(d1 ?? d2 ?? d3),
    };
    if (isDate(date)) found.push({ date, start: match.index, end: match.index + whole.length });
  }
  return found;
}

/** `March 2024` as its first and last day. */
export function foundMonths(
  text: string,
): { first: CalendarDate; last: CalendarDate; start: number; end: number }[] {
  return [...text.matchAll(MONTH_OF_YEAR)].map((match) => {
    const year = Number(match[2]);
    const month = monthNumber(match[1] ?? '');
    const day = new Date(Date.UTC(year, month, 0)).getUTCDate();
    return {
      first: { year, month, day: 1 },
      last: { year, month, day },
      start: match.index,
      end: match.index + match[0].length,
    };
  });
}

function monthNumber(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase().slice(0, 3))) + 1;
}

function isDate({ year, month, day }: CalendarDate): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Days since 1 January 1970, in the Gregorian calendar for all times. */
export function dayNumber({ year, month, day }: CalendarDate): number {
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return Math.round(date.getTime() / 86_400_000);
}

export function dateOfDay(number: number): CalendarDate {
  const date = new Date(number * 86_400_000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

export function weekdayOf(date: CalendarDate): string {
  return WEEKDAYS[(((dayNumber(date) + 4) % 7) + 7) % 7] ?? '';
}

export function isoDate(date: CalendarDate): string {
  return formatDate(date, 'YYYY-MM-DD');
}

/** As people write it: `4 March 2021`. */
export function longDate({ year, month, day }: CalendarDate): string {
  const name = MONTHS[month - 1] ?? '';
  return `${day} ${name.slice(0, 1).toUpperCase()}${name.slice(1)} ${year}`;
}

/** By a pattern of `YYYY`, `YY`, `MM`, `M`, `DD`, `D`. */
export function formatDate({ year, month, day }: CalendarDate, pattern: string): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return pattern.replace(/YYYY|YY|MM|M|DD|D/g, (part) => {
    switch (part) {
      case 'YYYY':
        return String(year).padStart(4, '0');
      case 'YY':
        return two(year % 100);
      case 'MM':
        return two(month);
      case 'M':
        return String(month);
      case 'DD':
        return two(day);
      default:
        return String(day);
    }
  });
}
