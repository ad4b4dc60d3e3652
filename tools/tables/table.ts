import { type DateReading, parseDate, parseMonth } from './values/date.ts';
import { parseDuration } from './values/duration.ts';
import { splitWords, stemTableWord, toPlainText } from './words.ts';

/** A cell of a table with what can be read from it, also where it says more than that. */
interface Cell {
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
type CellDate = Pick<DateReading, 'year' | 'month' | 'day'>;

/** What most cells of a column are. */
export type ColumnType = 'number' | 'date' | 'text';

export interface Column {
  readonly index: number;
  readonly title: string;
  readonly words: readonly string[];
  readonly type: ColumnType;
  readonly cells: readonly Cell[];
  /** What rows are ordered by in this column; undefined where a cell has nothing of the kind. */
  readonly keys: readonly (number | undefined)[];
  readonly isSortable: boolean;
}

/** A table as programs see it. */
export interface Table {
  readonly columns: readonly Column[];
  readonly size: number;
}

/** Larger tables are cut: so many are read in time. */
const MAX_ROWS = 1000;
const MAX_COLUMNS = 40;

/** @param rows the first is the heading */
export function parseTable(rows: readonly (readonly string[])[]): Table {
  const [heading = [], ...body] = rows;
  const kept = body.slice(0, MAX_ROWS);
  const columns = heading.slice(0, MAX_COLUMNS).map((title, index): Column => {
    const cells = kept.map((row) => parseCell(row[index] ?? ''));
    const filled = cells.filter(({ norm }) => norm !== '');
    const share = (is: (cell: Cell) => boolean) => filled.filter(is).length / Math.max(1, filled.length);
    const isDate =
      share(({ date }) => date !== undefined && (date.month !== undefined || date.year !== undefined)) > 0.7;
    const isNumber = share(({ isNumber: is }) => is) > 0.6;
    const hasNumber = share(({ number }) => number !== undefined) > 0.6;
    const type = isDate ? 'date' : isNumber ? 'number' : 'text';
    const keys = cells.map((cell) =>
      isDate ? (cell.date === undefined ? undefined : toDateOrder(cell.date)) : cell.number,
    );
    return {
      index,
      title,
      words: splitWords(title).map(stemTableWord),
      type,
      cells,
      keys,
      isSortable: isDate || hasNumber,
    };
  });
  return { columns, size: kept.length };
}

const FIRST_NUMBER = /[-+]?\d[\d,]*(?:\.\d+)?|[-+]?\.\d+/;
const YEAR = /(?:^|[^\d.,])(1\d{3}|20\d\d)(?!\d|[.,]\d)/;
/** Days up to which a date goes, and what stands behind it: `20-22 May`, `2 May-3 June`, `2 May (at home)`. */
const REST =
  /(?<=(?:^|[^-\d])\d{1,2})\s?-\s?\d{1,2}(?=,|\s|$)|(?<=[a-z])-\d{1,2}\s.*|\s*(?:\s-\s.*|[([].*|[*†‡]+)$/gs;

export function parseCell(text: string): Cell {
  const low = toPlainText(text).trim();
  const first = FIRST_NUMBER.exec(low)?.[0];
  // `2004-05` is a season, not a number less than the first.
  const digits = /\d-\d/.test(low) ? first?.replace('-', '') : first;
  const clock = low.includes(':') ? parseDuration(low)?.number : undefined;
  const number = clock ?? Number(digits?.replaceAll(',', ''));
  return {
    text,
    norm: splitWords(text).join(' '),
    number: Number.isFinite(number) ? number : undefined,
    isNumber: first !== undefined && first.length === low.length,
    date: findCellDate(low),
  };
}

/** A whole date, a month, or the year that a text mentions. */
function findCellDate(low: string): CellDate | undefined {
  const { year, month, day } = parseDate(low.replaceAll(REST, '')) ?? {};
  // `1996-03` is a season.
  if (month !== undefined && (day !== undefined || /[a-z]/.test(low))) return { year, month, day };
  const mentioned = YEAR.exec(low)?.[1];
  const named = parseMonth(low);
  if (mentioned === undefined && named === undefined) return undefined;
  return { year: mentioned === undefined ? undefined : Number(mentioned), month: named, day: undefined };
}

/** A number that orders dates; undefined where the year and the month are unknown. */
function toDateOrder({ year, month, day }: CellDate): number | undefined {
  if (year === undefined && month === undefined) return undefined;
  return (year ?? 0) * 372 + (month ?? 0) * 31 + (day ?? 0);
}
