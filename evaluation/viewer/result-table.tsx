import type { ComponentChildren, RefObject } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import {
  formatCell,
  formatColumnsCsv,
  formatColumnsMarkdown,
  type Column as WordedColumn,
} from '../terminal/columns.ts';
import { count } from '../terminal/table.ts';
import { showHidden, UNKNOWN } from './format.ts';
import { Badge, CopyButton, type Tone } from './parts.tsx';

type Value = string | number | null;

interface ColumnFacts<Row> {
  readonly header: string;
  readonly value: (row: Row) => Value;
  readonly format?: ((value: number) => string) | undefined;
  /** A drawing in place of the value. */
  readonly cell?: ((row: Row) => ComponentChildren) | undefined;
  /** A drawing in the heading, such as an axis. */
  readonly axis?: ComponentChildren;
  /** True if the column is left out on a phone. */
  readonly isWide?: boolean | undefined;
  /** True for a column of long texts, whose lines may break. */
  readonly isText?: boolean | undefined;
}

/** A column. `explain` says what it means, its unit and how it was measured; every column of figures must have it. */
export type Column<Row> = ColumnFacts<Row> &
  (
    | { readonly isNumber?: false | undefined; readonly explain?: string | undefined }
    | { readonly isNumber: true; readonly explain: string }
  );

/** Creates a column of whole numbers: packets, bytes, tokens and the like. */
export function createCount<Row>(
  header: string,
  value: (row: Row) => number | null,
  explain: string,
): Column<Row> & { readonly isNumber: true } {
  return { header, value, explain, isNumber: true, format: count };
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
  // A column without a value in any row is left out.
  const columns = useMemo(
    () =>
      props.columns.filter(
        ({ value, cell }) =>
          cell !== undefined || rows.length === 0 || rows.some((row) => value(row) !== null),
      ),
    [props.columns, rows],
  );
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
        <CopyButton label="CSV" what={`of ${label}`} text={() => formatColumnsCsv(word(columns), found)} />
        <CopyButton
          label="Markdown"
          what={`of ${label}`}
          text={() => formatColumnsMarkdown(word(columns), found)}
        />
      </p>
      {isExplained ? (
        <dl class="pairs">
          {explained.map(({ header, explain }) => (
            <div key={header}>
              <dt>{showHidden(header)}</dt>
              <dd>{showHidden(explain ?? '')}</dd>
            </div>
          ))}
        </dl>
      ) : null}
    </div>
  );
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly state: 'ascending' | 'descending' | 'none';
  readonly onSort: (() => void) | undefined;
}

function Heading<Row>({ column, state, onSort }: HeadingProps<Row>) {
  const { header, explain, axis } = column;
  const name = showHidden(header);
  return (
    <th scope="col" class={nameClass(column)} aria-sort={state} title={explain}>
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
  readonly column: Column<Row>;
  readonly isHead: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (() => void) | undefined;
}

function Cell<Row>({ row, column, isHead, isOpen, onOpen }: CellProps<Row>) {
  const drawn = column.cell?.(row);
  const shown =
    drawn === undefined || typeof drawn === 'string' ? showHidden(formatValue(column, row)) : drawn;
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

function nameClass<Row>({ isNumber, isWide, isText }: Column<Row>): string | undefined {
  const names = [isNumber ? 'number' : '', isWide ? 'wide-only' : '', isText ? 'text' : ''].filter(Boolean);
  return names.length === 0 ? undefined : names.join(' ');
}

function formatValue<Row>({ value, format = String, cell }: Column<Row>, row: Row): string {
  const drawn = cell?.(row);
  if (typeof drawn === 'string') return drawn;
  const own = value(row);
  return own === null ? UNKNOWN : typeof own === 'number' ? format(own) : own;
}

/** Converts columns of the page to those of other outputs, with their headings as keys. */
function word<Row>(columns: readonly Column<Row>[]): WordedColumn<Row>[] {
  return columns.map((column) => ({
    key: column.header,
    header: column.header,
    value: column.value,
    format: (row) => formatValue(column, row),
  }));
}

function filterRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], words: string): Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [...rows];
  return rows.filter((row) => {
    const text = columns
      .map(({ value }) => value(row) ?? '')
      .join(' ')
      .toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function sortRows<Row>(
  rows: Row[],
  columns: readonly Column<Row>[],
  sorted: { readonly column: number; readonly isDown: boolean } | null,
): Row[] {
  const column = sorted === null ? undefined : columns[sorted.column];
  if (column === undefined) return rows;
  const way = sorted?.isDown === true ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [column.value(a), column.value(b)];
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

/** Converts columns of other outputs to columns of the page; verdicts get badges. */
export function toPageColumns<Row>(
  columns: readonly WordedColumn<Row>[],
  rows: readonly Row[],
): Column<Row>[] {
  return columns.flatMap((column) => {
    const { key, header, explain, rank, value } = column;
    if (header === undefined) return [];
    const word = (row: Row) => formatCell(column, row);
    const values = rows.map(value).filter((cell) => cell !== null && cell !== undefined);
    // A column that is unknown in every row would be a column of dashes.
    if (values.length === 0 && rows.length > 0) return [];
    const isNumber = values.every((cell) => typeof cell === 'number');
    return [
      {
        header,
        isNumber: isNumber as true,
        explain: explain === undefined ? '' : `${explain.charAt(0).toUpperCase()}${explain.slice(1)}.`,
        isWide: rank !== undefined,
        value: (row) => {
          const cell = value(row);
          return typeof cell === 'number' ? cell : isNumber ? null : word(row);
        },
        cell: key.endsWith('verdict') ? (row) => <Verdict word={word(row)} /> : word,
      },
    ];
  });
}
