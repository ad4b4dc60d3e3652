import * as XLSX from '@e965/xlsx';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { taskPlace } from '../testing/task-place.ts';
import { queryTable } from './query-table.ts';
import { type CellValue, type Table, tableOf } from './sheet.ts';
import { AGGREGATES, type Condition, evaluate, type TableQuery } from './table-query.ts';

const tableFrom = (lines: readonly (readonly CellValue[])[]): Table =>
  tableOf({
    name: 'S',
    isHidden: false,
    rows: lines.map((cells, i) => ({ number: i + 1, cells })),
    isWhole: true,
    formulas: [],
    comments: [],
    merged: [],
    fills: new Map(),
  });

const shops = tableFrom([
  ['Shop', 'City', 'Sales', 'Opened'],
  ['North', 'Oslo', '$1,200.10', '2021-05-01'],
  ['South', 'oslo ', 0.2, '2019-02-03'],
  ['East', 'Rome', 0.1, '2024-12-24'],
  ['West', 'Rome', 'closed', null],
  ['Mid', null, 7, '2019-02-03'],
]);

const value = (query: Partial<TableQuery> & Pick<TableQuery, 'aggregate'>, table = shops) =>
  evaluate(table, { where: [], ...query }).value;
const where = (column: string, op: Condition['op'], wanted: Condition['value']): Condition[] => [
  { column, op, value: wanted },
];

describe('evaluate', () => {
  test.each([
    ['sum', 1207.4],
    ['mean', 301.85],
    ['median', 3.6],
    ['min', 0.1],
    ['max', 1200.1],
    ['count', 5],
    ['count_distinct', 5],
    ['list', ['$1,200.10', 0.2, 0.1, 'closed', 7]],
  ] as const)('%s of a column', (aggregate, expected) => {
    expect(value({ aggregate, column: 'Sales' })).toEqual(expected);
  });

  test('rounding noise is removed', () => {
    expect(value({ aggregate: 'sum', column: 'Sales', where: where('Sales', '<', 1) })).toBe(0.3);
    const thirds = tableFrom([['n'], [1], [1], [2]]);
    expect(value({ aggregate: 'mean', column: 'n' }, thirds)).toBe(1.33333333333333);
  });

  test.each([
    [where('City', '=', 'Oslo'), 2],
    [where('city', '=', ' OSLO'), 2],
    [where('B', '=', 'oslo'), 2],
    [where('City', '!=', 'Rome'), 3],
    [where('City', 'contains', 'O'), 4],
    [where('City', '=', ''), 1],
    [where('Sales', '>', 1), 2],
    [where('Sales', '>=', '$7.00'), 2],
    [where('Sales', '<', 7), 2],
    [where('Sales', '<=', 7), 3],
    [where('Sales', '=', '1200.1'), 1],
    [where('Opened', '>=', '2021-01-01'), 2],
    [[...where('City', '=', 'Rome'), ...where('Sales', '<', 5)], 1],
    [[], 5],
  ])('conditions %j match %d rows', (conditions, count) => {
    expect(value({ aggregate: 'count', where: conditions })).toBe(count);
  });

  test('the row with the largest or smallest value, or one cell of it', () => {
    expect(value({ aggregate: 'row_of_max', column: 'Sales' })).toEqual({
      Shop: 'North',
      City: 'Oslo',
      Sales: '$1,200.10',
      Opened: '2021-05-01',
    });
    expect(value({ aggregate: 'row_of_min', column: 'Sales', resultColumn: 'Shop' })).toBe('East');
    expect(value({ aggregate: 'max', column: 'Opened' })).toBe('2024-12-24');
    const oldest = evaluate(shops, {
      where: [],
      aggregate: 'row_of_min',
      column: 'Opened',
      resultColumn: 'Shop',
    });
    expect(oldest.value).toBe('South');
    expect(oldest.notes).toContain('2 rows have that value; this is the first.');
  });

  test('cells that hold no number are left out, and named', () => {
    expect(evaluate(shops, { where: [], aggregate: 'sum', column: 'Sales' }).notes).toContain(
      '1 cells that hold no number were left out: row 5 "closed"',
    );
    expect(() => value({ aggregate: 'sum', column: 'City' })).toThrow(
      'column "City" has no numbers in the rows that matched',
    );
    expect(() => value({ aggregate: 'max', column: 'Sales', where: where('Shop', '=', 'none') })).toThrow(
      '0 of 5 rows matched',
    );
  });

  test('a row that looks like a total is pointed out', () => {
    const table = tableFrom([
      ['Item', 'n'],
      ['a', 1],
      ['Total', 1],
    ]);
    expect(evaluate(table, { where: [], aggregate: 'sum', column: 'n' }).notes.join(' ')).toContain(
      'Row 3 looks like a total',
    );
  });

  test('a column that is not there is named with those that are', () => {
    const names = 'there is no column "Price": there are "Shop", "City", "Sales", "Opened"';
    expect(() => value({ aggregate: 'sum', column: 'Price' })).toThrow(names);
    expect(() => value({ aggregate: 'count', where: where('Price', '=', 1) })).toThrow(names);
    expect(() => value({ aggregate: 'row_of_max', column: 'Sales', resultColumn: 'Price' })).toThrow(names);
    expect(() => value({ aggregate: 'sum' })).toThrow('sum needs `column`, one of "Shop"');
    expect(() => value({ aggregate: 'sum', column: 'Sales', resultColumn: 'Shop' })).toThrow(
      'result_column goes with',
    );
  });

  test('a list is cut where it is no help any more', () => {
    const long = tableFrom([['n'], ...Array.from({ length: 1500 }, (_, i) => [i])]);
    const { value: list, notes } = evaluate(long, { where: [], aggregate: 'list', column: 'n' });
    expect(list).toHaveLength(1000);
    expect(notes).toContain('Only the first 1000 of 1500 values are listed.');
    const wide = tableFrom([['n'], ...Array.from({ length: 10 }, () => ['x'.repeat(30_000)])]);
    expect(value({ aggregate: 'list', column: 'n' }, wide)).toHaveLength(3);
  });

  test('the order of rows changes no number', () => {
    const cells = fc.array(
      fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
        fc.constantFrom('x', '$5', null),
      ),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(
        cells,
        fc.constantFrom('sum', 'mean', 'median', 'min', 'max', 'count', 'count_distinct'),
        (column, aggregate) => {
          const lines = [1, ...column].map((cell) => ['row', cell]);
          const one = value({ aggregate, column: 'n' }, tableFrom([['key', 'n'], ...lines]));
          expect(value({ aggregate, column: 'n' }, tableFrom([['key', 'n'], ...lines.toReversed()]))).toBe(
            one,
          );
        },
      ),
      { seed: 14 },
    );
  });
});

describe('tableOf', () => {
  test('finds the header below titles, and gives every column a name of its own', () => {
    const table = tableFrom([
      ['Report', null, null, null],
      ['Name', 'Name', null, '__proto__', 'A\n B'],
      ['a', 'b', 'c', 'd', 'e'],
    ]);
    expect(table.columns).toEqual(['Name', 'Name (2)', 'C', 'D', 'A B']);
    expect(table.above).toHaveLength(1);
    expect(table.rows).toHaveLength(1);
    expect(tableFrom([]).columns).toEqual([]);
  });
});

describe('query_table', () => {
  const place = () => {
    const workbook = XLSX.utils.book_new(XLSX.utils.aoa_to_sheet([['n'], [0.1], [0.2]]), 'One');
    XLSX.utils.book_append_sheet(workbook, XLSX.utils.aoa_to_sheet([['m'], [1]]), 'Two');
    return taskPlace({
      'a.xlsx': new Uint8Array(XLSX.write(workbook, { type: 'buffer' })),
      'b.csv': 'n;when\n1,5;2024-01-02\n2;2023-01-02\n',
    });
  };

  test('calculates over a sheet of a file', async () => {
    expect(
      await queryTable.run({ file: 'a.xlsx', sheet: 'one', aggregate: 'sum', column: 'n' }, place()),
    ).toEqual({
      text: './a.xlsx, sheet "One", sum of "n": 0.3\n2 of 2 rows matched.',
      data: { value: 0.3 },
    });
    const conditions = [{ column: 'when', op: '<', value: '2024-01-01' } as const];
    expect(
      (await queryTable.run({ file: 'b.csv', aggregate: 'sum', column: 'n', where: conditions }, place()))
        .data,
    ).toEqual({ value: 2 });
  });

  test('asks which sheet where there are several', async () => {
    await expect(queryTable.run({ file: 'a.xlsx', aggregate: 'count' }, place())).rejects.toThrow(
      './a.xlsx has 2 sheets: say in `sheet` which one, of "One", "Two"',
    );
  });

  test('its schema takes the documented aggregates and operators only', () => {
    for (const aggregate of AGGREGATES)
      expect(queryTable.input.safeParse({ file: 'a', aggregate }).success).toBe(true);
    expect(queryTable.input.safeParse({ file: 'a', aggregate: 'product' }).success).toBe(false);
    const condition = { column: 'a', op: '~', value: 1 };
    expect(queryTable.input.safeParse({ file: 'a', aggregate: 'count', where: [condition] }).success).toBe(
      false,
    );
  });
});
