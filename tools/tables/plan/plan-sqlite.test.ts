import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valueJson } from '../values/value.ts';
import { columnOfCells, type Frame, rowsOf } from './frame.ts';
import type { Step } from './plan.ts';
import { performStep } from './steps.ts';

type Row = readonly [city: string | null, sales: number | null, units: number];
type Other = readonly [name: string, country: string];

const cities = fc.constantFrom('Oslo', 'Rome', 'Bergen', 'Paris');
const rows = fc.array(
  fc.tuple(fc.option(cities), fc.option(fc.integer({ min: -50, max: 50 })), fc.integer({ min: 1, max: 5 })),
  { maxLength: 30 },
);
const others = fc.array(fc.tuple(cities, fc.constantFrom('N', 'I', 'F')), { maxLength: 8 });

const frame = (names: readonly string[], lines: readonly (readonly (string | number | null)[])[]): Frame => ({
  columns: names.map((name, i) =>
    columnOfCells(
      name,
      lines.map((line) => line[i] ?? null),
      () => ({}),
    ),
  ),
  size: lines.length,
  labels: undefined,
});

/** The same plan in our steps and in SQL over the same rows. */
const plans: readonly (readonly [string, readonly Step[], string])[] = [
  [
    'filter',
    [
      { do: 'where', formula: "Sales > 3 and (City = 'Oslo' or Units <= 2)" },
      { do: 'select', by: 'City, Sales, Units' },
    ],
    "select City, Sales, Units from t where Sales > 3 and (City = 'Oslo' or Units <= 2)",
  ],
  [
    'filter with not, in and between',
    [
      {
        do: 'where',
        formula: "not (Sales between -10 and 10) and City in ('Oslo', 'Rome') and Sales is not null",
      },
      { do: 'select', by: 'Sales' },
    ],
    "select Sales from t where not (Sales between -10 and 10) and City in ('Oslo', 'Rome')",
  ],
  [
    'derive',
    [
      { do: 'where', formula: 'Sales is not null' },
      { do: 'derive', formula: 'Sales * 2 + Units - 1 as x' },
      { do: 'select', by: 'x' },
    ],
    'select Sales * 2 + Units - 1 from t where Sales is not null',
  ],
  [
    'group',
    [
      {
        do: 'group',
        by: 'City',
        formula: 'sum(Sales), count(), count(Sales), min(Sales), max(Units), count(distinct Units)',
      },
    ],
    'select City, sum(Sales), count(*), count(Sales), min(Sales), max(Units), count(distinct Units) from t group by City',
  ],
  [
    'group of groups',
    [
      { do: 'group', by: 'City, Units', formula: 'sum(Sales) as s' },
      { do: 'where', formula: 's > 0' },
      { do: 'group', by: 'City', formula: 'count()' },
    ],
    'select City, count(*) from (select City, Units, sum(Sales) as s from t group by City, Units) where s > 0 group by City',
  ],
  [
    'join',
    [
      { do: 'join', file: 'o', formula: 'City = Name' },
      { do: 'select', by: 'City, Units, Country' },
    ],
    'select City, Units, Country from t join o on City = Name',
  ],
  [
    'left join',
    [
      { do: 'left_join', file: 'o', formula: 'City = Name' },
      { do: 'select', by: 'City, Units, Country' },
    ],
    'select City, Units, Country from t left join o on City = Name',
  ],
  [
    'join and group',
    [
      { do: 'join', file: 'o', formula: 'Name = City' },
      { do: 'group', by: 'Country', formula: 'sum(Units) / count() as mean' },
    ],
    'select Country, sum(Units) * 1.0 / count(*) from t join o on City = Name group by Country',
  ],
  [
    'rank',
    [
      { do: 'where', formula: 'Sales is not null' },
      { do: 'rank', by: 'Sales desc' },
      { do: 'select', by: 'Sales, rank' },
    ],
    'select Sales, rank() over (order by Sales desc) from t where Sales is not null',
  ],
  [
    'append',
    [
      { do: 'select', by: 'City' },
      { do: 'append', file: 'p' },
    ],
    'select City from t union all select Name from o',
  ],
];

test.each(plans)('%s gives what SQLite gives', (_, steps, sql) => {
  fc.assert(
    fc.property(rows, others, (lines: readonly Row[], more: readonly Other[]) => {
      // A column without a number is text to us.
      fc.pre(
        lines.some(([city]) => city !== null) && lines.some(([, sales]) => sales !== null) && more.length > 0,
      );
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
        .map((row) => JSON.stringify(Object.values(row).map(rounded)));
      database.close();
      const tableOf = (file: string | undefined) =>
        file === 'o'
          ? frame(['Name', 'Country'], more)
          : frame(
              ['City'],
              more.map(([name]) => [name]),
            );
      const result = steps.reduce(
        (made, step) => performStep(made, step, { tableOf, notes: [] }),
        frame(['City', 'Sales', 'Units'], lines),
      );
      const given = rowsOf(result).map((row) =>
        JSON.stringify(
          result.columns.map(({ typed }) => rounded(valueJson(typed().values[row] ?? { kind: 'empty' }))),
        ),
      );
      expect(given.sort()).toEqual(expected.sort());
    }),
    { numRuns: 60, seed: 11 },
  );
});

const rounded = (value: unknown) => (typeof value === 'number' ? Number(value.toFixed(9)) : value);
