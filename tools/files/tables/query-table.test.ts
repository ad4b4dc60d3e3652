import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { taskPlace } from '../testing/task-place.ts';
import { querySheets, queryTable } from './query-table.ts';

const NEVER = new AbortController().signal;
const file = () => ({ name: './a.csv', bytes: new Uint8Array(Buffer.from('n,City\n0.1,Oslo\n0.2,Rome\n')) });
const BOUNDS = { ms: 60_000, megabytes: 300 };

test('SQL is run over the sheets of a file', async () => {
  const place = taskPlace({ 'a.csv': 'n;when\n1,5;2024-01-02\n2;2023-01-02\n' });
  const sql = 'SELECT sum(n) FROM t1 WHERE "when" < \'2024-01-01\'';
  expect(await queryTable.run({ file: 'a.csv', sql }, place)).toEqual({
    text: [
      './a.csv: sum(n) = 2 (real)',
      'Table "CSV" (or t1) has 2 rows below the header in row 1; read: "n" real, "when" date.',
      '"n" has 1.5 for "1,5", and the like.',
    ].join('\n'),
    data: { columns: ['sum(n)'], types: ['real'], rows: [[2]], row_count: 1 },
  });
  await expect(queryTable.run({ file: 'a.csv', sql: 'SELECT m FROM t1' }, place)).rejects.toThrow(
    './a.csv: SQL: no such column: m. Table "CSV" (or t1) has "row", "n", "when".',
  );
});

test('a statement has so many characters', () => {
  const sql = (characters: number) => ({ file: 'a.csv', sql: 'SELECT 1'.padEnd(characters) });
  expect(queryTable.input.safeParse(sql(SQL_LIMITS.characters)).success).toBe(true);
  expect(queryTable.input.safeParse(sql(SQL_LIMITS.characters + 1)).success).toBe(false);
});

const ENDLESS = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c';

test('rows without end are stopped when the time is over', async () => {
  await expect(querySheets(file(), ENDLESS, NEVER, { ...BOUNDS, ms: 1000 })).rejects.toThrow(
    './a.csv was not queried: it took longer than 1 s',
  );
});

test('a statement that eats memory is stopped', async () => {
  const sql = `WITH RECURSIVE c(n, x) AS (SELECT 1, printf('%.*c', 1000000, 'x') UNION ALL SELECT n + 1, x || '' FROM c),
    d AS MATERIALIZED (SELECT * FROM c) SELECT count(*) FROM d a JOIN d b ON a.n = b.n`;
  await expect(querySheets(file(), sql, NEVER, BOUNDS)).rejects.toThrow(
    // SQLite is refused memory if the system bounds it; otherwise the process ends.
    /^\.\/a\.csv( was not queried: it took more than 300 MB of memory|: SQL: out of memory)/,
  );
});

test('a value that is larger than any is refused at once', async () => {
  await expect(querySheets(file(), 'SELECT zeroblob(1000000000)', NEVER, BOUNDS)).rejects.toThrow(
    './a.csv: SQL: string or blob too big',
  );
});

test('no statement makes a file', async () => {
  const { outside } = taskPlace();
  const made = path.join(outside, 'made.db');
  for (const sql of [`VACUUM INTO '${made}'`, `SELECT 1; ATTACH '${made}' AS x`])
    await expect(querySheets(file(), sql, NEVER, BOUNDS)).rejects.toThrow(
      /SQL: (only|expected one statement)/,
    );
  expect(existsSync(made)).toBe(false);
});

test('a statement is stopped when the run ends', async () => {
  const controller = new AbortController();
  const reply = querySheets(file(), ENDLESS, controller.signal, BOUNDS);
  setTimeout(() => controller.abort(), 500);
  await expect(reply).rejects.toThrow('./a.csv was not queried: the task has ended');
});

test('an agent that may start processes, and has no SQLite of its own, asks', async () => {
  const place = taskPlace({ 'a.csv': 'n\n1\n2\n' });
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const main = path.join(place.outside, 'main.mjs');
  writeFileSync(
    main,
    `import { queryTable } from ${JSON.stringify(new URL('query-table.ts', import.meta.url).href)};
    const place = { ...${JSON.stringify({ ...place, signal: undefined })}, signal: new AbortController().signal };
    const { data } = await queryTable.run({ file: 'a.csv', sql: 'SELECT sum(n) FROM t1' }, place);
    const sqlite = await import('node:sqlite').then(() => 'there', () => 'missing');
    console.log(JSON.stringify({ rows: data.rows, sqlite }));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--permission',
    '--allow-child-process',
    '--no-experimental-sqlite',
    `--allow-fs-read=${root}`,
    `--allow-fs-read=${place.files}${path.sep}`,
    `--allow-fs-read=${main}`,
    main,
  ]);
  expect(JSON.parse(stdout)).toEqual({ rows: [[3]], sqlite: 'missing' });
});
