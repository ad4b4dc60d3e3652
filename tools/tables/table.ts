import { type Cell, cellOf, orderOf } from './cell.ts';
import { stemOf, wordsOf } from './words.ts';

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
export function tableOf(rows: readonly (readonly string[])[]): Table {
  const [heading = [], ...body] = rows;
  const kept = body.slice(0, MAX_ROWS);
  const columns = heading.slice(0, MAX_COLUMNS).map((title, index): Column => {
    const cells = kept.map((row) => cellOf(row[index] ?? ''));
    const filled = cells.filter(({ norm }) => norm !== '');
    const share = (is: (cell: Cell) => boolean) => filled.filter(is).length / Math.max(1, filled.length);
    const isDate =
      share(({ date }) => date !== undefined && (date.month !== undefined || date.year !== undefined)) > 0.7;
    const isNumber = share(({ isNumber: is }) => is) > 0.6;
    const hasNumber = share(({ number }) => number !== undefined) > 0.6;
    const type = isDate ? 'date' : isNumber ? 'number' : 'text';
    const keys = cells.map((cell) =>
      isDate ? (cell.date === undefined ? undefined : orderOf(cell.date)) : cell.number,
    );
    return {
      index,
      title,
      words: wordsOf(title).map(stemOf),
      type,
      cells,
      keys,
      isSortable: isDate || hasNumber,
    };
  });
  return { columns, size: kept.length };
}
