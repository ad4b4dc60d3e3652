import { constants, DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { type DateOrder, detectDateOrder } from '../../tables/values/date.ts';
import { MAX_COLUMNS, MAX_ROWS, makeNamesUnique, type Sheet } from './sheet.ts';
import { type ColumnNames, quote, type SqlColumn, typeCells } from './sql-columns.ts';

/** A sheet as a table of a database. */
interface SqlTable {
  readonly name: string;
  /** A name that needs no quotes; undefined when a sheet has that name. */
  readonly alias: string | undefined;
  readonly sheet: Sheet;
  readonly columns: readonly ColumnNames[];
  /** The name of the column with each row's number in the sheet. */
  readonly rowColumn: string;
}

/** The tables of a file. */
interface SqlTables {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly tables: readonly SqlTable[];
  /** Sentences about sheets that are no tables. */
  readonly refused: readonly string[];
}

/** The result of a statement. */
export interface Selection {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The first rows, as many as are shown. */
  readonly rows: readonly SQLOutputValue[][];
  /** Number of all rows, counted up to one more than the limit. */
  readonly count: number;
  /** The columns that the statement reads, by table. */
  readonly tables: ReadonlyMap<SqlTable, readonly SqlColumn[]>;
  readonly notes: readonly string[];
  /** Columns of dates whose order of day and month is unknown. */
  readonly either: readonly string[];
}

/** Indices of the columns that a statement reads, by table. */
type Reads = ReadonlyMap<SqlTable, ReadonlySet<number>>;

/** SQLite's own tables that read nothing but their arguments. */
const HARMLESS_TABLES = new Set(['json_each', 'json_tree']);
const REFUSED_FUNCTIONS = new Set(['load_extension', 'fts3_tokenizer']);
/** Matches names that SQLite reserves for itself. */
const RESERVED_NAME = /^sqlite_/i;
/** Maximum length of a column's name; a header cell may hold a page of text. */
const MAX_NAME_CHARACTERS = 200;
/** Number of columns that a message names. */
const NAMED_COLUMNS = 100;
const NO_STATEMENT = 'ERR_INVALID_ARG_VALUE';
const SQL_ERRORS = new Set(['ERR_SQLITE_ERROR', NO_STATEMENT]);

/** Names the sheets of a file, and their columns, as tables. SQLite ignores case. */
function nameTables(file: string, sheets: readonly Sheet[]): SqlTables {
  const names = makeNamesUnique(
    sheets.map(({ name }) => nameTable(name)),
    fold,
  );
  const taken = new Set(names.map(fold));
  const refused: string[] = [];
  const tables = sheets.flatMap((sheet, at): SqlTable[] => {
    const [name = '', alias] = [names[at], `t${at + 1}`];
    const count = sheet.columns.length;
    if (!sheet.isWhole || count > SQL_LIMITS.columns) {
      refused.push(
        `Sheet ${JSON.stringify(sheet.name)} is not available as a table, since results would cover only a part of it: it has more than ${MAX_ROWS} rows or ${Math.min(MAX_COLUMNS, SQL_LIMITS.columns)} columns.`,
      );
      return [];
    }
    const own = sheet.columns.map((column) =>
      column.slice(0, MAX_NAME_CHARACTERS).toWellFormed().replaceAll('\0', ' '),
    );
    const unique = makeNamesUnique(
      [
        ...own,
        'row',
        ...own.map((column) => `${column} as text`),
        ...own.map((column) => `${column} in seconds`),
      ],
      fold,
    );
    const columns = unique.slice(0, count).map((column, i) => ({
      own: column,
      asText: unique[count + 1 + i] ?? '',
      inSeconds: unique[2 * count + 1 + i] ?? '',
    }));
    const rowColumn = unique[count] ?? '';
    return [{ name, alias: taken.has(alias) ? undefined : alias, sheet, columns, rowColumn }];
  });
  return { file, tables, refused };
}

const fold = (name: string) => name.toLowerCase();

function nameTable(sheet: string): string {
  const name = sheet.replaceAll('\0', ' ').trim();
  return name === '' || RESERVED_NAME.test(name) ? `sheet ${name}`.trim() : name;
}

/**
 * Runs a statement over the sheets of a file, each of which is a table. When no date shows the order of day and month,
 * returns a second selection, with the month first.
 *
 * @throws MeshError `tool` for SQL that cannot be run, naming the existing tables and columns
 */
export function selectRows(
  file: string,
  sheets: readonly Sheet[],
  sql: string,
): readonly [dayFirst: Selection, monthFirst?: Selection] {
  const tables = nameTables(file, sheets);
  const dayFirst = runSelect(tables, sql, undefined);
  return dayFirst.either.length === 0 ? [dayFirst] : [dayFirst, runSelect(tables, sql, 'mdy')];
}

/**
 * Runs a statement over the tables that it reads.
 *
 * @param otherwise the order of day and month when a table does not show it
 */
function runSelect(of: SqlTables, sql: string, otherwise: DateOrder | undefined): Selection {
  const { database, columns: tables, notes, either } = fillDatabase(of, sql, otherwise);
  const statement = prepareSelect(database, of, sql);
  const rows: SQLOutputValue[][] = [];
  let count = 0;
  explainFaults(of, () => {
    for (const row of statement.iterate()) {
      count += 1;
      if (rows.length < SQL_LIMITS.rowsShown) rows.push(Object.values(row));
      if (count > SQL_LIMITS.rows) break;
    }
  });
  const columns = statement.columns().map(({ name, table, column }, at) => ({
    name,
    type: findMeaning(tables, table, column) ?? nameTypes(rows.map((row) => row[at] ?? null)),
  }));
  database.close();
  return { columns, rows, count, tables, notes, either };
}

/** Returns the type of a result's column that is a column of a table. */
function findMeaning(
  tables: Selection['tables'],
  table: string | null,
  column: string | null,
): string | undefined {
  for (const [{ name, rowColumn }, own] of tables) {
    if (name !== table) continue;
    return column === rowColumn ? 'integer' : own.find((one) => one.name === column)?.meaning;
  }
  return undefined;
}

/** Returns the types of computed values. */
function nameTypes(values: readonly SQLOutputValue[]): string {
  const types = new Set(
    values.flatMap((value) => {
      if (value === null) return [];
      if (typeof value === 'bigint') return ['integer'];
      if (typeof value === 'number') return ['real'];
      return [typeof value === 'string' ? 'text' : 'blob'];
    }),
  );
  return types.size === 0 ? 'null' : [...types].join(' or ');
}

/**
 * Fills a database with only the data that `sql` reads: typing all cells of a large workbook takes longer than most
 * questions about it.
 *
 * @param otherwise the order of day and month when a table does not show it
 *
 * @throws MeshError `tool` for SQL that cannot be prepared, naming the existing tables and columns
 */
function fillDatabase(of: SqlTables, sql: string, otherwise: DateOrder | undefined) {
  const reads = findReads(of, sql);
  const database = openDatabase();
  const columns = new Map<SqlTable, readonly SqlColumn[]>();
  const notes: string[] = [];
  const either: string[] = [];
  for (const table of of.tables) {
    const read = reads.get(table);
    const typed = read === undefined ? [] : typeTable(table, read, otherwise);
    notes.push(...typed.flatMap((cells) => cells.notes));
    either.push(...typed.filter(({ isEither }) => isEither).flatMap((cells) => cells.columns[0]?.name ?? []));
    const filled = typed.flatMap((cells) => cells.columns);
    createTable(database, table, read === undefined ? table.columns.map(unread) : filled);
    if (table.alias !== undefined)
      database.exec(`CREATE VIEW ${table.alias} AS SELECT * FROM ${quote(table.name)}`);
    if (read === undefined) continue;
    columns.set(
      table,
      filled.filter(({ meaning }) => meaning !== ''),
    );
    const put = database.prepare(`INSERT INTO ${quote(table.name)} VALUES (?${', ?'.repeat(filled.length)})`);
    for (const [at, { number }] of table.sheet.rows.entries())
      put.run(number, ...filled.map(({ values }) => values[at] ?? null));
  }
  guardDatabase(database, of.tables);
  return { database, columns, notes, either };
}

/** Types the columns that are read; the others stay empty. */
function typeTable(
  { sheet: { rows }, columns }: SqlTable,
  read: ReadonlySet<number>,
  otherwise: DateOrder | undefined,
): ReturnType<typeof typeCells>[] {
  const numbers = rows.map(({ number }) => number);
  const cells = columns.map((_, at) => rows.map((row) => row.cells[at] ?? null));
  const order = cells.map(detectDateOrder).find((found) => found !== undefined) ?? otherwise;
  return columns.map((names, at) =>
    read.has(at)
      ? typeCells(names, cells[at] ?? [], numbers, order)
      : { columns: [unread(names)], notes: [], isEither: false },
  );
}

const unread = ({ own }: ColumnNames): SqlColumn => ({ name: own, type: 'TEXT', meaning: '', values: [] });

function createTable(
  database: DatabaseSync,
  { name, rowColumn }: SqlTable,
  columns: readonly Pick<SqlColumn, 'name' | 'type'>[],
): void {
  const row = `${quote(rowColumn)} INTEGER PRIMARY KEY`;
  const others = columns.map((column) => `${quote(column.name)} ${column.type}`);
  database.exec(`CREATE TABLE ${quote(name)} (${[row, ...others].join(', ')})`);
}

function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:', {
    limits: { length: SQL_LIMITS.valueBytes, attach: 0 },
  });
  // Large sorts would go to files, which Node's permissions do not prevent.
  database.exec('PRAGMA temp_store = MEMORY');
  return database;
}

/**
 * Prepares `sql` over empty tables, in which each column has all names that its types may give it, and records what it
 * reads.
 */
function findReads(of: SqlTables, sql: string): Reads {
  const database = openDatabase();
  const reads = new Map<SqlTable, Set<number>>();
  for (const table of of.tables) {
    const names = table.columns.flatMap(({ own, asText, inSeconds }) => [own, asText, inSeconds]);
    const columns = names.map((name) => ({ name, type: 'TEXT' as const }));
    for (const name of [table.name, table.alias])
      if (name !== undefined) createTable(database, { ...table, name }, columns);
  }
  guardDatabase(database, of.tables, (table, column) => {
    const read = reads.get(table) ?? new Set();
    reads.set(table, read);
    const at = table.columns.findIndex(({ own, asText, inSeconds }) =>
      [own, asText, inSeconds].some((name) => fold(name) === fold(column)),
    );
    if (at !== -1) read.add(at);
  });
  prepareSelect(database, of, sql);
  database.close();
  return reads;
}

/** Restricts the database to queries of its tables. */
function guardDatabase(
  database: DatabaseSync,
  tables: readonly SqlTable[],
  onRead: (table: SqlTable, column: string) => void = () => undefined,
): void {
  const named = new Map<string, SqlTable>();
  for (const table of tables)
    for (const name of [table.name, table.alias]) if (name !== undefined) named.set(fold(name), table);
  database.setAuthorizer((action, first, second) => {
    if (action === constants.SQLITE_SELECT || action === constants.SQLITE_RECURSIVE)
      return constants.SQLITE_OK;
    if (action === constants.SQLITE_FUNCTION && !REFUSED_FUNCTIONS.has(fold(second ?? '')))
      return constants.SQLITE_OK;
    if (action !== constants.SQLITE_READ || first === null) return constants.SQLITE_DENY;
    const table = named.get(fold(first));
    if (table !== undefined) onRead(table, second ?? '');
    // A read without a column counts rows, possibly of a named subquery.
    const isAllowed = table !== undefined || second === '' || HARMLESS_TABLES.has(first);
    return isAllowed ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
}

/**
 * Prepares the single statement of `sql`. Its whole numbers come as bigints, its rows as lists.
 *
 * @throws MeshError `tool`
 */
function prepareSelect(database: DatabaseSync, tables: SqlTables, sql: string): StatementSync {
  return explainFaults(tables, () => {
    const statement = database.prepare(sql);
    // SQLite prepares the first statement and ignores the rest.
    if (hasStatement(database, sql.slice(statement.sourceSQL.length)))
      throw new MeshError('tool', `${tables.file}: SQL: expected one statement, got more than one`);
    if (statement.columns().length === 0) throw new MeshError('tool', `${tables.file}: SQL: ${ONLY_SELECT}`);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  });
}

const ONLY_SELECT = 'only one SELECT or WITH … SELECT that reads the tables is run';

/** Returns true if a text holds a statement; comments and semicolons are none. */
function hasStatement(database: DatabaseSync, sql: string): boolean {
  try {
    database.prepare(sql);
    return true;
  } catch (error) {
    return readSystemCode(error) !== NO_STATEMENT;
  }
}

/** Runs `work` and adds the existing tables and columns to SQLite's errors. */
function explainFaults<Result>({ file, tables, refused }: SqlTables, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (!SQL_ERRORS.has(readSystemCode(cause) ?? '')) throw cause;
    const message = toErrorMessage(cause);
    const reason = /not authorized|authorization denied|is prohibited|no statements/.test(message)
      ? `${ONLY_SELECT} (${message})`
      : message;
    const known = [...tables.map(describeTable), ...refused].join(' ');
    throw new MeshError('tool', `${file}: SQL: ${reason}${/[.?]$/.test(reason) ? '' : '.'} ${known}`, {
      cause,
    });
  }
}

/** Names a table and its columns. */
function describeTable({ name, alias, rowColumn, columns }: SqlTable): string {
  const named = [rowColumn, ...columns.map(({ own }) => own)];
  const more = named.length > NAMED_COLUMNS ? `, … (${named.length})` : '';
  const or = alias === undefined ? '' : ` (or ${alias})`;
  return `Table ${quote(name)}${or} has ${named.slice(0, NAMED_COLUMNS).map(quote).join(', ')}${more}.`;
}
