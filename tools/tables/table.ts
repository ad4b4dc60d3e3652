import { parseDate, parseMonth } from './values/date.ts';
import { parseDuration } from './values/duration.ts';
import { splitWords, stemTableWord, toPlainText } from './words.ts';

/** A cell of a table with the number and the date that can be read from it, even when it says more than that. */
interface Cell {
  /** The cell's text as it stands in the table. */
  readonly text: string;
  /** Its words in one string, for comparison. */
  readonly norm: string;
  /** The first number in it: `5 km`, `$1,200`, `1st`, `12:34.5` (in seconds). */
  readonly number: number | undefined;
  /** True when the cell is that number and nothing else. */
  readonly isNumber: boolean;
  readonly date: CellDate | undefined;
}

/** A date whose unknown parts are undefined. */
type CellDate = Pick<NonNullable<ReturnType<typeof parseDate>>, 'year' | 'month' | 'day'>;

/** The type of most cells of a column. */
export type ColumnType = 'number' | 'date' | 'text';

export interface Column {
  readonly index: number;
  readonly title: string;
  readonly words: readonly string[];
  readonly type: ColumnType;
  readonly cells: readonly Cell[];
  /** Sort keys of the rows by this column; undefined for cells that have none. */
  readonly keys: readonly (number | undefined)[];
  readonly isSortable: boolean;
}

/** A table in the form that programs work on. */
export interface Table {
  readonly columns: readonly Column[];
  readonly size: number;
}

/** Maximum rows and columns; larger tables are cut, since more take too long to read. */
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
/** Matches the text after the first day of a date: `20-22 May`, `2 May-3 June`, `2 May (at home)`. */
const REST =
  /(?<=(?:^|[^-\d])\d{1,2})\s?-\s?\d{1,2}(?=,|\s|$)|(?<=[a-z])-\d{1,2}\s.*|\s*(?:\s-\s.*|[([].*|[*†‡]+)$/gs;

function parseCell(text: string): Cell {
  const low = toPlainText(text).trim();
  const first = FIRST_NUMBER.exec(low)?.[0];
  // `2004-05` is a season: the hyphen is not a minus sign.
  const digits = /\d-\d/.test(low) ? first?.replace('-', '') : first;
  const clock = low.includes(':') ? parseDuration(low)?.seconds : undefined;
  const number = clock ?? Number(digits?.replaceAll(',', ''));
  return {
    text,
    norm: splitWords(text).join(' '),
    number: Number.isFinite(number) ? number : undefined,
    isNumber: first !== undefined && first.length === low.length,
    date: findCellDate(low),
  };
}

/** Finds a whole date, a month, or a year in a text. */
function findCellDate(low: string): CellDate | undefined {
  const { year, month, day } = parseDate(low.replaceAll(REST, '')) ?? {};
  // `1996-03` is a season.
  if (month !== undefined && (day !== undefined || /[a-z]/.test(low))) return { year, month, day };
  const mentioned = YEAR.exec(low)?.[1];
  const named = parseMonth(low);
  if (mentioned === undefined && named === undefined) return undefined;
  return { year: mentioned === undefined ? undefined : Number(mentioned), month: named, day: undefined };
}

/** Returns a number that orders dates; undefined when year and month are unknown. */
function toDateOrder({ year, month, day }: CellDate): number | undefined {
  if (year === undefined && month === undefined) return undefined;
  return (year ?? 0) * 372 + (month ?? 0) * 31 + (day ?? 0);
}
