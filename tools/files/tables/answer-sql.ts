import type { SQLOutputValue } from 'node:sqlite';
import { SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { roundNoise } from '../../tables/values/value.ts';
import { type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { renderMarkdownTable } from './markdown-table.ts';
import { MAX_CELL_CHARACTERS, type SheetRow } from './sheet.ts';
import { quote, type SqlColumn } from './sql-columns.ts';
import { type Selection, selectRows } from './table-database.ts';
import { readSheets } from './workbook.ts';

const MAX_NOTES = 40;
/** Maximum characters of a value, which may be a list made of many. */
const MAX_VALUE_CHARACTERS = 10_000;
/** Number of values of a column that are named when a result is empty. */
const NAMED_VALUES = 5;
const NAMED_CHARACTERS = 60;
const TOTAL = /^(grand |sub)?totals?:?$|^sum:?$/i;

/**
 * Answers an SQL statement about the sheets of a file, each of which is a table. When no date shows the order of day
 * and month and the two readings give different results, returns both.
 *
 * @throws MeshError `tool` for a file that is not a spreadsheet, and for SQL that cannot be run
 */
export async function answerSql(file: LoadedFile, sql: string): Promise<DataToolReply> {
  const name = quoteFileName(file.name);
  const [selection, other] = selectRows(name, await readSheets(file), sql);
  const dayFirst = writeResult(selection);
  const head = `${name}: `;
  const monthFirst = other && writeResult(other);
  if (monthFirst === undefined || JSON.stringify(monthFirst.data) === JSON.stringify(dayFirst.data))
    return { text: head + dayFirst.text, data: dayFirst.data };
  const text = [
    `${head}it is unclear whether dates of ${selection.either.map(quote).join(', ')} such as 03/04/2024 have the day or the month first, and the results differ. Find out which.`,
    `Day first: ${dayFirst.text}`,
    `Month first: ${monthFirst.text}`,
  ].join('\n');
  return { text, data: { day_first: dayFirst.data, month_first: monthFirst.data } };
}

function writeResult({ columns, rows: all, count, tables, notes: remarks }: Selection): {
  text: string;
  data: JsonObject;
} {
  const only = count === 1 && columns.length === 1 ? (all[0]?.[0] ?? null) : undefined;
  const most = only === undefined ? MAX_CELL_CHARACTERS : MAX_VALUE_CHARACTERS;
  const rows: string[][] = [];
  let characters = 0;
  let cut = 0;
  for (const row of all) {
    const texts = row.map(writeValue);
    cut += texts.filter((text) => text.length > most).length;
    const short = texts.map((text) => shorten(text, most));
    characters += short.reduce((sum, text) => sum + text.length + 3, 0);
    if (characters > SQL_LIMITS.charactersShown) break;
    rows.push(short);
  }
  const counted = count > SQL_LIMITS.rows ? `more than ${SQL_LIMITS.rows} rows` : `${count} rows`;
  const typed = columns.map(({ name, type }) => `${quote(name)} ${type}`).join(', ');
  const notes = [
    ...(cut > 0 ? [`[cut: ${cut} values to ${most} characters]`] : []),
    ...describeTables(tables),
    ...remarks,
    ...(count === 0 || only === null || only === 0n ? nameValues(tables) : []),
  ];
  const left = notes.length > MAX_NOTES ? [`[and ${notes.length - MAX_NOTES} more notes]`] : [];
  const lines =
    only === undefined
      ? [`${counted}, columns ${typed}`, ...tableLines(columns, rows, counted)]
      : [`${columns[0]?.name} = ${rows[0]?.[0] || "''"} (${columns[0]?.type})`];
  return {
    text: [...lines, ...notes.slice(0, MAX_NOTES), ...left].join('\n'),
    data: {
      columns: columns.map(({ name }) => name),
      types: columns.map(({ type }) => type),
      rows: all.slice(0, rows.length).map((row) => row.map((value) => toJson(value, most))),
      row_count: Math.min(count, SQL_LIMITS.rows),
    },
  };
}

function tableLines(
  columns: readonly { readonly name: string }[],
  rows: readonly string[][],
  counted: string,
): string[] {
  if (rows.length === 0) return counted === '0 rows' ? [] : ['[cut: a row is too long to be shown]'];
  const table = renderMarkdownTable([columns.map(({ name }) => name), ...rows], MAX_CELL_CHARACTERS);
  const isCut = counted !== `${rows.length} rows`;
  const rest = isCut ? [`[cut: the first ${rows.length} of ${counted}; count, group or limit them]`] : [];
  return ['', ...table, ...rest, ''];
}

function writeValue(value: SQLOutputValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(roundNoise(value));
  if (value instanceof Uint8Array)
    return `x'${Buffer.from(value.subarray(0, MAX_VALUE_CHARACTERS)).toString('hex')}'`;
  return String(value).toWellFormed();
}

/** Converts a value to JSON; whole numbers that JSON readers would round become texts. */
function toJson(value: SQLOutputValue, most: number): JsonValue {
  if (value === null) return null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? roundNoise(value) : null;
  return shorten(writeValue(value), most);
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
}

/** Describes the tables that were read: their size, the types of the columns, and rows that a sum would count twice. */
function describeTables(tables: Selection['tables']): string[] {
  return [...tables].flatMap(
    ([
      {
        name,
        alias,
        sheet: { rows, header },
      },
      own,
    ]) => {
      const or = alias === undefined ? '' : ` (or ${alias})`;
      const below = header === undefined ? '' : ` below the header in row ${header.number}`;
      const types = own.map((column) => `${quote(column.name)} ${column.meaning}`);
      const read = types.length === 0 ? '' : `; read: ${types.join(', ')}`;
      const totals = rows.filter(isTotal).map(({ number }) => number);
      const total = `Row ${totals.slice(0, NAMED_VALUES).join(', ')} of it looks like a total: exclude it by a condition if it should not count.`;
      return [
        `Table ${quote(name)}${or} has ${rows.length} rows${below}${read}.`,
        ...(totals.length > 0 ? [total] : []),
      ];
    },
  );
}

function isTotal({ cells }: SheetRow): boolean {
  return cells.some((cell) => typeof cell === 'string' && TOTAL.test(cell.trim()));
}

/** Names values of the columns, for a statement whose condition no row meets. */
function nameValues(tables: Selection['tables']): string[] {
  return [...tables.values()].flat().flatMap(({ name, values }: SqlColumn) => {
    const found = new Set<string>();
    for (const value of values) {
      if (value !== null) found.add(JSON.stringify(String(value).slice(0, NAMED_CHARACTERS).toWellFormed()));
      if (found.size === NAMED_VALUES) break;
    }
    return found.size === 0 ? [] : [`${quote(name)} holds ${[...found].join(', ')} and the like.`];
  });
}
