import { plain, wordsOf } from './words.ts';

/** A cell of a table with what can be read from it. */
export interface Cell {
  /** As it stands in the table. */
  readonly text: string;
  /** Its words in one string, to be compared. */
  readonly norm: string;
  /** The first number in it: `5 km`, `$1,200`, `1st`, `12:34.5` (in seconds). */
  readonly number: number | undefined;
  /** Whether the cell is that number and nothing else. */
  readonly isNumber: boolean;
  readonly date: CellDate | undefined;
}

/** What is unknown is undefined. */
export interface CellDate {
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const MONTH = new RegExp(`\\b(${MONTHS.map((name) => name.slice(0, 3)).join('|')})[a-z]*\\b`);

export function cellOf(text: string): Cell {
  const low = plain(text).trim();
  const norm = wordsOf(text).join(' ');
  const time = /^(?:(\d+):)?(\d{1,2}):(\d{2}(?:\.\d+)?)$/.exec(low);
  const first = /[-+]?\d[\d,]*(?:\.\d+)?|[-+]?\.\d+/.exec(low)?.[0];
  let number = first === undefined ? undefined : Number(first.replaceAll(',', ''));
  if (time !== null) number = Number(time[1] ?? 0) * 3600 + Number(time[2]) * 60 + Number(time[3]);
  // `2004-05` is a season, not a number less than the first.
  if (first !== undefined && /\d-\d/.test(low) && first.startsWith('-')) number = Number(first.slice(1));
  return {
    text,
    norm,
    number: Number.isFinite(number) ? number : undefined,
    isNumber: first !== undefined && first.length === low.length,
    date: dateIn(low),
  };
}

function dateIn(low: string): CellDate | undefined {
  const iso = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/.exec(low);
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) };
  const year = /(?:^|[^\d.,])(1[0-9]\d\d|20\d\d)(?!\d|[.,]\d)/.exec(low)?.[1];
  const named = MONTH.exec(low);
  if (named !== null) {
    const month = MONTHS.findIndex((name) => name.startsWith(named[1] ?? '')) + 1;
    const day = /(?:^|[^\d:.,])([0-3]?\d)(?:st|nd|rd|th)?(?![\d:.]|,\d)/.exec(low)?.[1];
    return {
      year: year === undefined ? undefined : Number(year),
      month,
      day: day === undefined ? undefined : Number(day),
    };
  }
  return year === undefined ? undefined : { year: Number(year), month: undefined, day: undefined };
}

/** A number that orders dates; undefined where the year and the month are unknown. */
export function orderOf({ year, month, day }: CellDate): number | undefined {
  if (year === undefined && month === undefined) return undefined;
  return (year ?? 0) * 372 + (month ?? 0) * 31 + (day ?? 0);
}
