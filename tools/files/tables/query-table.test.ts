import * as XLSX from '@e965/xlsx';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Condition, formulaOf } from '../../tables/plan/plan.ts';
import type { CellValue } from '../../tables/values/value.ts';
import { taskPlace } from '../testing/task-place.ts';
import { AGGREGATES } from './aggregate-rows.ts';
import { queryTable } from './query-table.ts';
import { type Table, tableOf } from './sheet.ts';
import { evaluate, type TableQuery } from './table-query.ts';

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
  evaluate(table, query).value;
const where = (column: string, op: Condition['op'], wanted: Condition['value']) =>
  formulaOf([{ column, op, value: wanted }]);

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
    [`${where('City', '=', 'Rome')} and ${where('Sales', '<', 5)}`, 1],
    ['true', 5],
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
      aggregate: 'row_of_min',
      column: 'Opened',
      resultColumn: 'Shop',
    });
    expect(oldest.value).toBe('South');
    expect(oldest.notes).toContain('2 rows have that value; this is the first.');
  });

  test('cells that hold no number are left out, and named', () => {
    expect(evaluate(shops, { aggregate: 'sum', column: 'Sales' }).notes).toContain(
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
    expect(evaluate(table, { aggregate: 'sum', column: 'n' }).notes.join(' ')).toContain(
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
    const { value: list, notes } = evaluate(long, { aggregate: 'list', column: 'n' });
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
      (
        await queryTable.run(
          { file: 'b.csv', aggregate: 'sum', column: 'n', where: formulaOf(conditions) },
          place(),
        )
      ).data,
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

describe('a plan', () => {
  const LOG = [
    'Date,City,Amount',
    '2024-02-10,Oslo,100',
    '16 Feb 2024,Rome,1000',
    '3/3/2024,Oslo,250',
    '25/03/2024,Rome,145 €',
    'unknown,Rome,5',
  ].join('\n');
  const files = () => {
    const workbook = XLSX.utils.book_new(
      XLSX.utils.aoa_to_sheet([
        ['Name', 'Sold'],
        ['a', 3],
        ['b', 5],
      ]),
      'Jan',
    );
    XLSX.utils.book_append_sheet(
      workbook,
      XLSX.utils.aoa_to_sheet([
        ['Name', 'Sold'],
        ['a', 4],
      ]),
      'Feb',
    );
    return taskPlace({
      'log.csv': LOG,
      'cities.csv': 'Id;Name;Country\n1;Oslo;Norway\n2;Rome;Italy\n3;Paris;France',
      'either.csv': 'Day,n\n03/04/2024,5\n05/04/2024,7\n',
      'sales.xlsx': new Uint8Array(XLSX.write(workbook, { type: 'buffer' })),
    });
  };
  const ask = async (input: unknown) => queryTable.run(queryTable.input.parse(input), files());

  test('compares dates whatever their notation, and names the cells that are none', async () => {
    const { text, data } = await ask({
      file: 'log.csv',
      where: [{ column: 'Date', op: '>=', value: '2024-02-15' }],
      aggregate: 'sum',
      column: 'Amount',
    });
    expect(data).toEqual({ value: 1395 });
    expect(text).toContain('3 of 5 rows matched.');
    expect(text).toContain('1 cells of "Date" hold no date: row 6 "unknown"');
  });

  test('says what each condition dropped, and what there is where none is left', async () => {
    const where = [
      { column: 'Date', op: '>=', value: 'Feb 2024' },
      { column: 'City', op: '=', value: 'Roma' },
    ] as const;
    const { text } = await ask({ file: 'log.csv', where, aggregate: 'count' });
    expect(text).toContain("Date >= 'Feb 2024': 4 of 5 rows left, 1 dropped.");
    expect(text).toContain("City = 'Roma': 0 of 4 rows left, 4 dropped.");
    expect(text).toContain('"City" holds "Oslo", "Rome"');
  });

  test('gives both results where nothing tells day and month apart and it matters, and one where it does not', async () => {
    const where = [{ column: 'Day', op: '<', value: '2024-05-01' }] as const;
    const either = await ask({ file: 'either.csv', where, aggregate: 'sum', column: 'n' });
    expect(either.text).toContain('Nothing tells whether dates of "Day"');
    expect(either.data).toEqual({ day_first: { value: 12 }, month_first: { value: 5 } });
    const stated = {
      file: 'either.csv',
      where,
      aggregate: 'sum',
      column: 'n',
      date_order: 'mdy',
    } as const;
    expect((await ask(stated)).data).toEqual({ value: 5 });
    expect((await ask({ file: 'either.csv', aggregate: 'count_distinct', column: 'Day' })).data).toEqual({
      value: 2,
    });
  });

  test('joins, groups, orders and picks over files', async () => {
    const { data, text } = await ask({
      file: 'log.csv',
      steps: [
        { do: 'join', file: 'cities.csv', formula: 'City = Name' },
        { do: 'group', by: 'Country', formula: 'sum(Amount) as total, max(Date) as latest' },
        { do: 'order', by: 'total desc' },
        { do: 'pick', rows: 1 },
      ],
    });
    expect(data).toEqual({
      columns: ['Country', 'total', 'latest'],
      rows: [['Italy', 1150, '25/03/2024']],
      row_count: 1,
    });
    expect(text).toContain('without a partner 0 of 5 rows before it and 1 of 3 of the other table.');
  });

  test('takes all sheets of a workbook, and looks at neighbouring rows', async () => {
    const steps = [{ do: 'pivot', by: ['Name', 'Sheet'], formula: 'sum(Sold)' }] as const;
    expect((await ask({ file: 'sales.xlsx', sheet: '*', steps })).data?.rows).toEqual([
      ['a', 4, 3],
      ['b', null, 5],
    ]);
    const gap = [{ do: 'where', formula: "Date != 'unknown'" }] as const;
    await expect(ask({ file: 'log.csv', steps: gap })).rejects.toThrow("write it as '2024-03-01'");
    const days = await ask({
      file: 'log.csv',
      steps: [
        { do: 'difference', formula: 'Date as gap', by: 'Date' },
        { do: 'rank', by: 'Amount desc' },
        { do: 'select', by: ['gap', 'rank'] },
      ],
    });
    expect(days.data?.rows).toEqual([
      [null, 4],
      [6, 1],
      [16, 2],
      [22, 3],
      [null, 5],
    ]);
  });

  test.each([
    [{ do: 'where', formula: 'Amout > 5' }, /there is no column "Amout": there are .*nearest: "Amount"/],
    [
      { do: 'where', formula: 'Amount >' },
      /expected a column, a number or a text in single quotes, and at character 9 came its end/,
    ],
    [{ do: 'where', formula: "City = 'Oslo" }, /the quote at character 8 is never closed/],
    [{ do: 'derive', formula: 'spread(Amount)' }, /there is no function spread: there are sum, mean/],
    [{ do: 'derive', formula: 'round(1, 2, 3)' }, /round takes 1 to 2 arguments, and 3 were given/],
    [{ do: 'derive', formula: `${'('.repeat(60)}1` }, /nested at most 40 deep/],
    [{ do: 'group', by: ['City'], formula: 'Amount' }, /in a group "Amount" has many values/],
    [{ do: 'pivot', by: ['City'], formula: 'sum(Amount)' }, /two columns or more/],
    [{ do: 'order' }, /step order needs `by`/],
    [{ do: 'join', file: 'cities.csv', formula: 'Town = Name' }, /there is no column "Town"/],
    [{ do: 'join', file: 'none.csv' }, /there is no file none.csv/],
  ] as const)('%j is refused in words that help', async (step, words) => {
    await expect(ask({ file: 'log.csv', steps: [step] })).rejects.toThrow(words);
  });

  test('adds no amounts of two currencies', async () => {
    const place = taskPlace({ 'a.csv': 'n\n5 €\n$3\n' });
    await expect(queryTable.run({ file: 'a.csv', aggregate: 'sum', column: 'n' }, place)).rejects.toThrow(
      'cannot be taken together',
    );
  });
});
