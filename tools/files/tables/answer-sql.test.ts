import { DatabaseSync } from 'node:sqlite';
import * as XLSX from '@e965/xlsx';
import { SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerSql } from './answer-sql.ts';

type Cell = string | number | boolean | null;

const csv = (text: string) => ({ name: './a.csv', bytes: new Uint8Array(Buffer.from(text)) });
const ask = (text: string, sql: string) => answerSql(csv(text), sql);
/** The rows of the result. */
const rowsOf = async (text: string, sql: string) => (await ask(text, sql)).data?.rows;

function book(sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>) {
  const workbook = XLSX.utils.book_new();
  for (const [name, lines] of Object.entries(sheets))
    XLSX.utils.book_append_sheet(workbook, XLSX.utils.aoa_to_sheet(lines.map((line) => [...line])), name);
  return {
    name: './a.xlsx',
    bytes: new Uint8Array(XLSX.write(workbook, { type: 'buffer', bookType: 'xlsx' })),
  };
}

const SHOPS = `Shop,City,Sales,Opened
North,Oslo,"$1,200.10",2021-05-01
South,"oslo ",0.2,3 Feb 2019
East,Rome,0.1,2024-12-24
West,Rome,closed,
Mid,,7,May 2019
`;

describe('the types of columns', () => {
  test('are told with what they cut and with cells that cannot have them', async () => {
    const { text, data } = await ask(SHOPS, 'SELECT * FROM t1 ORDER BY row');
    expect(data).toEqual({
      columns: ['row', 'Shop', 'City', 'Sales', 'Sales as text', 'Opened'],
      types: ['integer', 'text', 'text', 'real (USD)', 'text', 'date'],
      rows: [
        [2, 'North', 'Oslo', 1200.1, '$1,200.10', '2021-05-01'],
        [3, 'South', 'oslo', 0.2, '0.2', '2019-02-03'],
        [4, 'East', 'Rome', 0.1, '0.1', '2024-12-24'],
        [5, 'West', 'Rome', null, 'closed', null],
        [6, 'Mid', null, 7, '7', '2019-05'],
      ],
      row_count: 5,
    });
    expect(text).toContain('5 rows, columns "row" integer, "Shop" text');
    expect(text).toContain('Table "CSV" (or t1) has 5 rows below the header in row 1');
    expect(text).toContain('"Sales" has 1200.1 for "$1,200.10", and the like.');
    expect(text).toContain(
      '1 of 5 cells of "Sales" cannot be read as real (USD) and are NULL in "Sales": row 5 "closed". "Sales as text" has all cells as they are written.',
    );
    expect(text).toContain('"Opened" has 2019-02-03 for "3 Feb 2019", and the like.');
    expect(text).toContain(
      '"Opened" has months or years, such as 2019-05, which date functions do not take.',
    );
  });

  test.each<[string, string, string, Cell]>([
    ['whole numbers', 'n\n5\n7\n', 'integer', 5],
    ['numbers in groups', 'n\n"1,204"\n7\n', 'integer', 1204],
    ['fractions', 'n\n5.5\n7\n', 'real', 5.5],
    ['percentages', 'n\n12%\n7%\n', 'real', 0.12],
    ['money', 'n\n5 €\n7\n', 'integer (EUR)', 5],
    ['units', 'n\n5 km\n300 m\n2 km\n', 'real (km)', 5],
    ['dates', 'n\n25/12/2024\n2024-01-02\n', 'date', '2024-12-25'],
    ['times', 'n\n2024-01-02 10:30\n2024-01-03\n', 'date', '2024-01-02T10:30:00'],
    ['texts', 'n\nsoon\n7 rows of 3\n', 'text', 'soon'],
    ['codes with zeros in front', 'n\n007\n12\n', 'text', '007'],
    ['durations', 'n\n1:30:00\n2:10:05\n', 'duration as text', '1:30:00'],
  ])('%s', async (_what, text, type, first) => {
    expect((await ask(text, 'SELECT n FROM t1 LIMIT 1')).data).toMatchObject({
      types: [type],
      rows: [[first]],
    });
  });

  test('of a workbook are those of its cells', async () => {
    const file = book({
      S: [
        ['a', 'b', 'c'],
        [1, true, 'x'],
        [2.5, false, 'y'],
      ],
    });
    expect((await answerSql(file, 'SELECT * FROM S')).data).toMatchObject({
      types: ['integer', 'real', 'boolean (1 or 0)', 'text'],
      rows: [
        [2, 1, 1, 'x'],
        [3, 2.5, 0, 'y'],
      ],
    });
  });

  test('of durations are texts, with their seconds beside them', async () => {
    const { data, text } = await ask('t\n4:05\n0:30\nlate\n', 'SELECT t, "t in seconds" FROM t1');
    expect(data?.rows).toEqual([
      ['4:05', 245],
      ['0:30', 30],
      ['late', null],
    ]);
    expect(text).toContain('"t": two numbers with a colon are read as minutes and seconds.');
    expect(text).toContain('cannot be read as duration and are NULL in "t in seconds": row 4 "late"');
  });

  test('add no amounts of two currencies', async () => {
    const { data, text } = await ask('n\n5 €\n$3\n7 €\n', 'SELECT sum(n) FROM t1');
    expect(data?.rows).toEqual([[12]]);
    expect(text).toContain(
      '1 of 3 cells of "n" cannot be read as integer (EUR) and are NULL in "n": row 3 "$3"',
    );
  });
});

describe('whole numbers', () => {
  test('stay exact up to 64 bits, in texts where JSON would round them', async () => {
    const table = 'n\n9007199254740993\n"9,223,372,036,854,775,807"\n5\n';
    const { text, data } = await ask(table, 'SELECT n FROM t1 ORDER BY n');
    expect(data).toMatchObject({
      types: ['integer'],
      rows: [[5], ['9007199254740993'], ['9223372036854775807']],
    });
    expect(text).toContain('| 9007199254740993 |');
    expect(await rowsOf('n\n9007199254740991\n9007199254740993\n', 'SELECT sum(n) FROM t1')).toEqual([
      ['18014398509481984'],
    ]);
    expect(await rowsOf('n\n9007199254740991\n', 'SELECT n FROM t1')).toEqual([[9007199254740991]]);
  });

  test.each([
    ['of more bits', 'n\n9223372036854775808\n5\n', '9223372036854775808'],
    ['beside fractions', 'n\n9007199254740993\n0.5\n', '9007199254740993'],
    ['with decimals', 'n\n9007199254740993.0\n5\n', '9007199254740993.0'],
  ])('%s leave their column text, and that is said', async (_what, table, number) => {
    const { text, data } = await ask(table, 'SELECT n FROM t1');
    expect(data).toMatchObject({ types: ['text'] });
    expect(text).toContain(`"n" stays text: as a number "${number}" would be rounded.`);
  });

  test('whose sum is larger than 64 bits are refused by name', async () => {
    await expect(ask('n\n9223372036854775807\n5\n', 'SELECT sum(n) FROM t1')).rejects.toThrow(
      './a.csv: SQL: integer overflow. Table "CSV" (or t1) has "row", "n".',
    );
  });
});

describe('dates of which nothing tells the day from the month', () => {
  const EITHER = 'Day,n\n03/04/2024,5\n05/04/2024,7\n';

  test('give both results where it matters', async () => {
    const { text, data } = await ask(EITHER, "SELECT sum(n) AS s FROM t1 WHERE Day < '2024-05-01'");
    expect(text).toContain(
      './a.csv: it is unclear whether dates of "Day" such as 03/04/2024 have the day or',
    );
    expect(data).toMatchObject({ day_first: { rows: [[12]] }, month_first: { rows: [[5]] } });
  });

  test.each([
    ['the result is the same', EITHER, 'SELECT count(DISTINCT Day) FROM t1', 2],
    ['they are not read', EITHER, 'SELECT sum(n) FROM t1', 12],
    ['another column shows it', 'A,B\n03/04/2024,12/25/2024\n', 'SELECT A FROM t1', '2024-03-04'],
  ])('give one where %s', async (_why, table, sql, value) => {
    expect((await ask(table, sql)).data).toMatchObject({ rows: [[value]] });
  });
});

describe('tables', () => {
  const file = () =>
    book({
      Jan: [
        ['Name', 'Sold'],
        ['a', 3],
        ['b', 5],
      ],
      'Feb 2024': [['Report'], ['Name', 'Name', null, 'row'], ['a', 4, 'x', 1]],
      t1: [['Id'], ['a']],
    });

  test('are named as the sheets are, and by aliases that no sheet has', async () => {
    expect((await answerSql(file(), 'SELECT sum(Sold) FROM Jan')).data?.rows).toEqual([[8]]);
    expect((await answerSql(file(), 'SELECT Id FROM t1')).data?.rows).toEqual([['a']]);
    const { data } = await answerSql(
      file(),
      'SELECT jan.Name, Sold, "Name (2)" FROM Jan JOIN "Feb 2024" AS feb ON jan.Name = feb.Name',
    );
    expect(data?.rows).toEqual([['a', 3, 4]]);
  });

  test('give every column a name of its own, and the rows their numbers', async () => {
    expect((await answerSql(file(), 'SELECT * FROM t2')).data).toMatchObject({
      columns: ['row (2)', 'Name', 'Name (2)', 'C', 'row'],
      rows: [[3, 'a', 4, 'x', 1]],
    });
    expect(await rowsOf('A,a\n1,2\n', 'SELECT A, "a (2)" FROM t1')).toEqual([[1, 2]]);
    expect(await rowsOf('a,,c\n1,2,3\n', 'SELECT B FROM t1')).toEqual([[2]]);
  });

  test('and columns whose names have quotes or are SQL are there by these names', async () => {
    const odd = book({
      'a "b"': [
        ['select', 'x"y'],
        [1, 2],
      ],
      sqlite_master: [['n'], [5]],
    });
    expect((await answerSql(odd, 'SELECT "select", "x""y" FROM "a ""b"""')).data?.rows).toEqual([[1, 2]]);
    expect((await answerSql(odd, 'SELECT n FROM "sheet sqlite_master"')).data?.rows).toEqual([[5]]);
  });

  test('that are empty have no rows', async () => {
    expect((await ask('a,b\n', 'SELECT * FROM t1')).data).toMatchObject({
      columns: ['row', 'a', 'b'],
      rows: [],
    });
    expect((await answerSql(book({ S: [] }), 'SELECT count(*) FROM S')).data?.rows).toEqual([[0]]);
  });

  test('that are larger than what is read are refused by name', async () => {
    const wide = (columns: number) =>
      [Array.from({ length: columns }, (_, i) => `c${i}`), Array.from({ length: columns }, (_, i) => i)].join(
        '\n',
      );
    expect(await rowsOf(wide(SQL_LIMITS.columns), 'SELECT c599 FROM t1')).toEqual([[599]]);
    await expect(ask(wide(SQL_LIMITS.columns + 1), 'SELECT c0 FROM t1')).rejects.toThrow(
      'no such table: t1. Sheet "CSV" is not available as a table, since results would cover only a part of it: it has more than 200000 rows or 600 columns.',
    );
  });

  test('with a row that looks like a total are told with it', async () => {
    const { text } = await ask('Item,n\na,1\nTotal,1\n', 'SELECT sum(n) FROM t1');
    expect(text).toContain('Row 3 of it looks like a total');
  });
});

describe('a result', () => {
  test('has rounding noise removed', async () => {
    expect((await ask('n\n0.1\n0.2\n', 'SELECT sum(n) FROM t1')).text).toContain('sum(n) = 0.3 (real)');
  });

  test('that is empty says what the columns hold', async () => {
    const { text } = await ask(SHOPS, "SELECT Shop FROM t1 WHERE City = 'Roma'");
    expect(text).toContain('0 rows');
    expect(text).toContain('"City" holds "Oslo", "oslo", "Rome" and the like.');
  });

  const count = (rows: number) =>
    `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ${rows}) SELECT n FROM c`;

  test('shows so many rows, and says how many there are', async () => {
    const whole = await ask('a\n1\n', count(SQL_LIMITS.rowsShown));
    expect(whole.text).not.toContain('[cut');
    expect(whole.data).toMatchObject({ row_count: SQL_LIMITS.rowsShown });
    const cut = await ask('a\n1\n', count(SQL_LIMITS.rowsShown + 1));
    expect(cut.text).toContain('[cut: the first 200 of 201 rows; count, group or limit them]');
    expect(cut.data?.rows).toHaveLength(SQL_LIMITS.rowsShown);
  });

  test('of more rows than are counted says so', async () => {
    expect((await ask('a\n1\n', count(SQL_LIMITS.rows))).text).toContain(`./a.csv: ${SQL_LIMITS.rows} rows`);
    expect((await ask('a\n1\n', count(SQL_LIMITS.rows + 1))).text).toContain(
      `more than ${SQL_LIMITS.rows} rows`,
    );
  });

  test('has so many characters, and long values are cut', async () => {
    const { text, data } = await ask(
      'a\n1\n',
      `${count(200).replace('SELECT n FROM', "SELECT printf('%.*c', 2000, 'x'), printf('%.*c', 450, 'y') FROM")}`,
    );
    expect(text.length).toBeLessThan(SQL_LIMITS.charactersShown * 1.1);
    expect(text).toMatch(/\[cut: the first 10\d of 200 rows/);
    expect(text).toMatch(/\[cut: 10\d values to 500 characters\]/);
    expect(JSON.stringify(data).length).toBeLessThan(SQL_LIMITS.charactersShown * 1.1);
  });

  test('may be a value of up to so many bytes', async () => {
    const sql = (bytes: number) => `SELECT length(zeroblob(${bytes})) FROM t1`;
    expect(await rowsOf('a\n1\n', sql(SQL_LIMITS.valueBytes))).toEqual([[SQL_LIMITS.valueBytes]]);
    await expect(ask('a\n1\n', sql(SQL_LIMITS.valueBytes + 1))).rejects.toThrow('string or blob too big');
  });
});

describe('SQL that is no question', () => {
  test.each([
    ["ATTACH '/tmp/gaia-mesh.db' AS x", 'not authorized'],
    ["VACUUM INTO '/tmp/gaia-mesh.db'", 'only one SELECT'],
    ['PRAGMA writable_schema = 1', 'not authorized'],
    ["SELECT * FROM pragma_table_info('CSV')", 'is prohibited'],
    ['SELECT * FROM sqlite_master', 'is prohibited'],
    ['SELECT * FROM dbstat', 'is prohibited'],
    ['SELECT count(*) FROM pragma_database_list', 'not authorized'],
    ["SELECT load_extension('x')", 'not authorized'],
    ["SELECT fts3_tokenizer('simple')", 'not authorized'],
    ['DELETE FROM t1', 'not authorized'],
    ['WITH c AS (SELECT 1) DELETE FROM CSV RETURNING *', 'not authorized'],
    ["INSERT INTO CSV VALUES (9, 'x', 'y', 1, 'z') RETURNING *", 'not authorized'],
    ['CREATE TEMP TABLE x(a)', 'not authorized'],
    ['CREATE VIRTUAL TABLE x USING fts5(a)', 'not authorized'],
    ['DROP TABLE CSV', 'not authorized'],
    ['BEGIN', 'not authorized'],
    ['SAVEPOINT x', 'not authorized'],
    ['REINDEX', 'only one SELECT'],
    ['', 'no statements'],
    ['-- nothing', 'no statements'],
    ['SELECT 1; SELECT 2', 'expected one statement'],
    ["SELECT 1; ATTACH '/tmp/gaia-mesh.db' AS x", 'expected one statement'],
    ['SELECT 1; selec', 'expected one statement'],
  ])('%s is refused', async (sql, words) => {
    const reply = ask(SHOPS, sql);
    await expect(reply).rejects.toMatchObject({ code: 'tool' });
    await expect(reply).rejects.toThrow(words);
    await expect(reply).rejects.toThrow('./a.csv: SQL: ');
  });

  test.each([
    ['SELECT Sale FROM t1', 'no such column: Sale'],
    ['SELECT "Oslo" FROM t1', 'no such column: "Oslo"'],
    ['SELECT * FROM shops', 'no such table: shops'],
    ['SELEC 1', 'near "SELEC": syntax error'],
  ])('%s is answered with the tables and columns that there are', async (sql, words) => {
    const reply = ask(SHOPS, sql);
    await expect(reply).rejects.toThrow(words);
    await expect(reply).rejects.toThrow('Table "CSV" (or t1) has "row", "Shop", "City", "Sales", "Opened".');
  });

  test.each([
    'SELECT 1;',
    ' SELECT 1 ; -- done\n',
    '/* so */ SELECT 1',
    'VALUES (1)',
    'WITH c AS (SELECT * FROM t1 LIMIT 1) SELECT count(*) FROM c',
    "SELECT value FROM json_each('[1]')",
  ])('%s is a question', async (sql) => {
    expect(await rowsOf(SHOPS, sql)).toEqual([[1]]);
  });
});

const cities = fc.constantFrom('Oslo', 'Rome', 'Bergen', 'Paris');
const sales = fc.array(
  fc.tuple(fc.option(cities), fc.option(fc.integer({ min: -50, max: 50 })), fc.integer({ min: 1, max: 5 })),
  { minLength: 1, maxLength: 30 },
);
const countries = fc.array(fc.tuple(cities, fc.constantFrom('N', 'I', 'F')), { minLength: 1, maxLength: 8 });

test.each([
  "SELECT City, Sales, Units FROM t WHERE Sales > 3 AND (City = 'Oslo' OR Units <= 2)",
  "SELECT Sales FROM t WHERE NOT (Sales BETWEEN -10 AND 10) AND City IN ('Oslo', 'Rome')",
  'SELECT City, sum(Sales), count(*), count(Sales), min(Sales), max(Units), count(DISTINCT Units) FROM t GROUP BY City',
  'SELECT City, count(*) FROM (SELECT City, Units, sum(Sales) AS s FROM t GROUP BY City, Units) WHERE s > 0 GROUP BY City',
  'SELECT City, Units, Country FROM t LEFT JOIN o ON City = Name',
  'SELECT Country, sum(Units) / count(*) FROM t JOIN o ON City = Name GROUP BY Country',
  'SELECT Sales, rank() OVER (ORDER BY Sales DESC) FROM t WHERE Sales IS NOT NULL',
  'SELECT City FROM t UNION ALL SELECT Name FROM o',
])('%s over a workbook gives what SQLite gives over the values', async (sql) => {
  await fc.assert(
    fc.asyncProperty(sales, countries, async (lines, more) => {
      // A column in which nothing stands has no type.
      fc.pre(lines.some(([, amount]) => amount !== null));
      const database = new DatabaseSync(':memory:');
      database.exec(
        'create table t (City text, Sales integer, Units integer); create table o (Name text, Country text)',
      );
      const put = database.prepare('insert into t values (?, ?, ?)');
      for (const line of lines) put.run(...line);
      const putOther = database.prepare('insert into o values (?, ?)');
      for (const line of more) putOther.run(...line);
      const expected = database
        .prepare(sql)
        .all()
        .map((row) => JSON.stringify(Object.values(row)));
      database.close();
      const file = book({
        t: [['City', 'Sales', 'Units'], ...lines],
        o: [['Name', 'Country'], ...more],
      });
      const { data } = await answerSql(file, sql);
      const rows = Array.isArray(data?.rows) ? data.rows : [];
      expect(data?.row_count).toBe(expected.length);
      expect(rows.map((row) => JSON.stringify(row)).sort()).toEqual(expected.sort().slice(0, rows.length));
    }),
    { numRuns: 10, seed: 11 },
  );
});
