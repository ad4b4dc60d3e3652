import type { ComponentChildren, RefObject } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import {
  formatCell,
  formatColumnsCsv,
  formatColumnsMarkdown,
  type Column as WordedColumn,
} from '../terminal/columns.ts';
import { count } from '../terminal/table.ts';
import { showHidden, toLine, toSentence, UNKNOWN } from './format.ts';
import { Badge, CopyButton, type Tone } from './parts.tsx';

/**
 * A column as all outputs have it, and what only a page draws. A page needs no key, and a phone leaves out columns with a rank. Every
 * column of figures is explained; a column whose name ends in `verdict` has badges.
 */
export interface Column<Row> extends WordedColumn<Row> {
  /** A drawing in place of the figure. */
  readonly cell?: ((row: Row) => ComponentChildren) | undefined;
  /** A drawing in the heading, such as an axis. */
  readonly axis?: ComponentChildren;
  /** True for a column of long texts, whose lines may break. */
  readonly isText?: boolean | undefined;
}

/** A column of a table with rows, in which it has a value. */
type ShownColumn<Row> = Column<Row> & { readonly header: string; readonly isNumber: boolean };

/** Creates a column of figures in another format than that of whole numbers; with a rank, a phone leaves it out. */
export function createFigure<Row>(
  header: string,
  value: (row: Row) => number | null,
  format: (value: number) => string,
  explain: string,
  rank?: number,
): Column<Row> {
  const formatKnown = (row: Row) => {
    const own = value(row);
    return own === null ? UNKNOWN : format(own);
  };
  return { header, value, explain, rank, format: formatKnown };
}

interface ResultTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Opens a row. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** The opened row, and the content below it. */
  readonly opened?: Row | undefined;
  readonly detail?: ((row: Row) => ComponentChildren) | undefined;
  /** Further controls beside the filter. */
  readonly tools?: ComponentChildren;
  readonly hasFilter?: boolean;
  /** Rows that are drawn at first. */
  readonly atFirst?: number | undefined;
}

/** Number of rows that are drawn at first, and that are added at a time: thousands would make every click slow. */
const ROWS_AT_FIRST = 25;
const ROWS_AT_ONCE = 100;
/** Number of rows above which a table has a filter. */
const MANY_ROWS = 12;

/** A table that can be sorted, filtered and copied. */
export function ResultTable<Row>(props: ResultTableProps<Row>) {
  const { label, rows, tools, atFirst = ROWS_AT_FIRST } = props;
  const columns = useMemo(() => listShown(props.columns, rows), [props.columns, rows]);
  const { hasFilter = rows.length > MANY_ROWS } = props;
  const [sorted, setSorted] = useState<{ column: number; isDown: boolean } | null>(null);
  const [words, setWords] = useState('');
  const [most, setMost] = useState(atFirst);
  const [isExplained, setExplained] = useState(false);
  const body = useRef<HTMLTableSectionElement>(null);
  const explained = columns.filter(({ explain = '' }) => explain !== '');
  const found = useMemo(
    () => sortRows(filterRows(rows, columns, words), columns, sorted),
    [rows, columns, words, sorted],
  );
  const sort = (column: number) => {
    const isNumber = columns[column]?.isNumber === true;
    if (sorted?.column !== column) setSorted({ column, isDown: isNumber });
    else setSorted(sorted.isDown === isNumber ? { column, isDown: !isNumber } : null);
  };
  return (
    <div class="result">
      {hasFilter || tools !== undefined ? (
        <div class="tools">
          {hasFilter ? (
            <label class="field">
              Find
              <input
                type="search"
                value={words}
                onInput={(event) => {
                  setWords(event.currentTarget.value);
                  setMost(atFirst);
                }}
              />
            </label>
          ) : null}
          {tools}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <table>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <Heading
                  key={`${index} ${column.header}`}
                  column={column}
                  state={sorted?.column === index ? (sorted.isDown ? 'descending' : 'ascending') : 'none'}
                  onSort={rows.length > 1 ? () => sort(index) : undefined}
                />
              ))}
            </tr>
          </thead>
          <Rows {...props} columns={columns} rows={found.slice(0, most)} body={body} />
        </table>
      </section>
      <p class="table-foot">
        <span role="status">
          {found.length === rows.length
            ? `${count(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`
            : `${count(found.length)} of ${count(rows.length)} rows`}
        </span>
        {found.length > most ? (
          <button
            type="button"
            onClick={() => {
              const next = most;
              setMost(most + ROWS_AT_ONCE);
              setTimeout(() => body.current?.rows[next]?.querySelector('button')?.focus());
            }}
          >
            {`Show ${count(Math.min(ROWS_AT_ONCE, found.length - most))} more`}
          </button>
        ) : null}
        {explained.length === 0 ? null : (
          <button
            type="button"
            class="quiet"
            aria-expanded={isExplained}
            aria-label={`What the columns of ${label} mean`}
            onClick={() => setExplained(!isExplained)}
          >
            Columns
          </button>
        )}
        <CopyButton label="CSV" what={`of ${label}`} text={() => formatColumnsCsv(columns, found)} />
        <CopyButton
          label="Markdown"
          what={`of ${label}`}
          text={() => formatColumnsMarkdown(columns, found)}
        />
      </p>
      {isExplained ? (
        <dl class="pairs">
          {explained.map(({ header, explain }) => (
            <div key={header}>
              <dt>{showHidden(header)}</dt>
              <dd>{toSentence(explain ?? '')}</dd>
            </div>
          ))}
        </dl>
      ) : null}
    </div>
  );
}

/** Lists the columns with a heading and a value in any row. Texts are formatted for a page, where their lines may be longer. */
function listShown<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): ShownColumn<Row>[] {
  return columns.flatMap((column) => {
    const { header, value, format, cell, isText = false } = column;
    const known = rows.find((row) => value(row) != null);
    if (header === undefined || (known === undefined && cell === undefined && rows.length > 0)) return [];
    const formatShown = (row: Row) => {
      const own = value(row);
      return format === undefined && typeof own === 'string'
        ? toLine(own, isText ? 400 : 60)
        : showHidden(formatCell(column, row));
    };
    const isNumber = known !== undefined && typeof value(known) === 'number';
    return [{ ...column, header, isNumber, format: formatShown }];
  });
}

interface HeadingProps<Row> {
  readonly column: ShownColumn<Row>;
  readonly state: 'ascending' | 'descending' | 'none';
  readonly onSort: (() => void) | undefined;
}

function Heading<Row>({ column, state, onSort }: HeadingProps<Row>) {
  const { header, explain, axis } = column;
  const name = showHidden(header);
  return (
    <th scope="col" class={nameClass(column)} aria-sort={state} title={explain && toSentence(explain)}>
      {onSort === undefined || name === '' ? (
        name
      ) : (
        <button type="button" class="sort" onClick={onSort}>
          {name}
          <span aria-hidden="true">{state === 'none' ? '' : state === 'descending' ? ' ↓' : ' ↑'}</span>
        </button>
      )}
      {axis}
    </th>
  );
}

interface RowsProps<Row> extends ResultTableProps<Row> {
  readonly columns: readonly ShownColumn<Row>[];
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

function Rows<Row>({ rows, columns, onOpen, opened, detail, body }: RowsProps<Row>) {
  return (
    <tbody ref={body}>
      {rows.map((row, index) => {
        const isOpen = opened === row;
        return [
          <tr key={index} class={isOpen ? 'opened' : undefined}>
            {columns.map((column, at) => (
              <Cell
                key={`${at} ${column.header}`}
                row={row}
                column={column}
                isHead={at === 0}
                isOpen={isOpen}
                onOpen={at === 0 && onOpen !== undefined ? () => onOpen(row) : undefined}
              />
            ))}
          </tr>,
          isOpen && detail !== undefined ? (
            <tr key={`${index} opened`} class="detail">
              <td colSpan={columns.length}>{detail(row)}</td>
            </tr>
          ) : null,
        ];
      })}
    </tbody>
  );
}

interface CellProps<Row> {
  readonly row: Row;
  readonly column: ShownColumn<Row>;
  readonly isHead: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (() => void) | undefined;
}

function Cell<Row>({ row, column, isHead, isOpen, onOpen }: CellProps<Row>) {
  const { key, header, cell } = column;
  const text = formatCell(column, row);
  const shown = cell?.(row) ?? ((key ?? header).endsWith('verdict') ? <Verdict word={text} /> : text);
  if (!isHead) return <td class={nameClass(column)}>{shown}</td>;
  return (
    <th scope="row" class={nameClass(column)}>
      {onOpen === undefined ? (
        shown
      ) : (
        <button type="button" class="open" aria-expanded={isOpen} onClick={onOpen}>
          {shown}
        </button>
      )}
    </th>
  );
}

function nameClass<Row>({ isNumber, rank, isText }: ShownColumn<Row>): string | undefined {
  const names = [isNumber ? 'number' : '', rank === undefined ? '' : 'wide-only', isText ? 'text' : ''];
  return names.filter(Boolean).join(' ') || undefined;
}

function filterRows<Row>(rows: readonly Row[], columns: readonly ShownColumn<Row>[], words: string): Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [...rows];
  return rows.filter((row) => {
    const texts = columns.map((column) => {
      const value = column.value(row) ?? '';
      return typeof value === 'number' ? value : `${value} ${formatCell(column, row)}`;
    });
    const text = texts.join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function sortRows<Row>(
  rows: Row[],
  columns: readonly ShownColumn<Row>[],
  sorted: { readonly column: number; readonly isDown: boolean } | null,
): Row[] {
  const column = sorted === null ? undefined : columns[sorted.column];
  if (column === undefined) return rows;
  const way = sorted?.isDown === true ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one = null, other = null] = [column.value(a), column.value(b)];
    // Unknown values stand last, whatever the order.
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order =
      typeof one === 'number' && typeof other === 'number'
        ? one - other
        : String(one).localeCompare(String(other), 'en', { numeric: true });
    return way * order;
  });
}

/** Words of a verdict that get a badge in a colour of their own. */
const TONES: Readonly<Record<string, Tone>> = {
  slower: 'bad',
  failed: 'bad',
  'out of time': 'bad',
  gone: 'bad',
  more: 'bad',
  worse: 'bad',
  wrong: 'bad',
  'rate too high': 'bad',
  faster: 'good',
  less: 'good',
  better: 'good',
  right: 'good',
  up: 'good',
};

/** Returns the tone of a verdict. */
export function readTone(verdict: string): Tone {
  const [word = ''] = verdict.split(',');
  return TONES[word] ?? 'plain';
}

/** Draws a verdict in its colour. */
export function Verdict({ word }: { readonly word: string }) {
  return word === '' ? null : <Badge tone={readTone(word)}>{word}</Badge>;
}
