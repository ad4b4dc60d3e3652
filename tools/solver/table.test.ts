import { describe, expect, test } from 'vitest';
import { columnsOf } from './table/columns.ts';
import { planQuery } from './table/plan.ts';
import { answerFromSheets, answerFromTable, tableFrom } from './table.ts';
import { Workings } from './workings.ts';

const staff = tableFrom(
  ['Employee', 'Department', 'Start date', 'Salary', 'Remote', 'City'],
  [
    ['Ana Brodd', 'Sales', '2019-03-04', 52000, 'yes', 'Turku'],
    ['Ben Quill', 'Sales', '2021-07-19', 48000, 'no', 'Oulu'],
    ['Cleo Marsh', 'Engineering', '2018-01-15', 71000, 'yes', 'Turku'],
    ['Dario Finch', 'Engineering', '2022-11-01', 64000, 'no', 'Vaasa'],
    ['Edda Holm', 'Support', '2020-05-11', 39000, 'yes', 'Oulu'],
    ['Finn Rask', 'Support', '2023-02-20', 37500, 'no', 'Turku'],
    ['Gia Lund', 'Engineering', '2020-09-07', 68500, 'no', 'Oulu'],
  ],
);
const rivers = tableFrom(
  ['River', 'Length (km)', 'Country', 'Discharge_m3s', 'Navigable'],
  [
    ['Alba', 312, 'Norland', 120, true],
    ['Brist', 88, 'Norland', 31, false],
    ['Corro', 540, 'Sudia', 410, true],
    ['Dwyn', 205, 'Westmark', 77, true],
    ['Esk', 61, 'Westmark', 12, false],
  ],
);
const sales = tableFrom(
  ['Date', 'Store', 'Product', 'Category', 'Quantity', 'Unit price', 'Total'],
  [
    ['2024-01-05', 'North', 'Kettle', 'Kitchen', 3, 25, 75],
    ['2024-01-19', 'South', 'Lamp', 'Lighting', 5, 40, 200],
    ['2024-02-02', 'North', 'Lamp', 'Lighting', 2, 40, 80],
    ['2024-02-14', 'East', 'Kettle', 'Kitchen', 7, 25, 175],
    ['2024-03-08', 'South', 'Rug', 'Textiles', 1, 120, 120],
    ['2024-03-09', 'North', 'Rug', 'Textiles', 2, 120, 240],
    ['2024-03-30', 'East', 'Lamp', 'Lighting', 4, 40, 160],
  ],
);

const idle = async () => ({ error: { code: 'tool', message: 'no tool is needed' } });
const tables = { staff, rivers, sales };

const questions: readonly (readonly [keyof typeof tables, readonly (readonly [string, string])[]])[] = [
  [
    'staff',
    [
      ['What is the average salary in the Engineering department, to one decimal?', '67833.3'],
      ['How many people in Turku work remotely?', '2'],
      ['Who earns the most?', 'Cleo Marsh'],
      ['Who has the lowest salary in Oulu?', 'Edda Holm'],
      ['Who joined the company most recently?', 'Finn Rask'],
      ['Who has the second highest salary?', 'Gia Lund'],
      ['How many employees started in 2020 or later?', '5'],
      ['How many employees are not in Sales?', '5'],
      ['How many employees earn between 40,000 and 65,000?', '3'],
      ['What is the combined salary of everyone in Sales and Support?', '176500'],
      ['Which department has the highest average salary?', 'Engineering'],
      ['Which department has the most employees?', 'Engineering'],
      ['In which city does Edda Holm work?', 'Oulu'],
      ['List the names of all employees in Oulu.', 'Ben Quill, Edda Holm, Gia Lund'],
      ['How many different cities are there?', '3'],
      ['What is the difference between the highest and the lowest salary?', '33500'],
      ['What percentage of employees are in Engineering, to the nearest whole number?', '43'],
    ],
  ],
  [
    'rivers',
    [
      ['How long is the Alba?', '312'],
      ['Which is the shortest river in Norland?', 'Brist'],
      ['How many of the navigable rivers are shorter than 300 km?', '1'],
      ['Which country has the most rivers?', 'Norland'],
      ['How much longer is the Corro than the Alba?', '228'],
      ['Which river has the greatest discharge?', 'Corro'],
    ],
  ],
  [
    'sales',
    [
      ['What were the total sales in January 2024?', '275'],
      ['How many sales took place in March?', '3'],
      ['How many lamps were sold?', '11'],
      ['Which store had the highest total sales?', 'North'],
      ['Which product sold the most units?', 'Lamp'],
      ['What was the revenue from lighting?', '440'],
      ['What is the total revenue excluding textiles?', '690'],
      ['By how much did the North store outsell the South store, in total?', '75'],
      ['What is the most expensive product?', 'Rug'],
    ],
  ],
];

describe.each(questions)('of the table %s', (name, asked) => {
  test.each(asked)('%s → %s', (question, answer) => {
    expect(answerFromTable(question, tables[name], new Workings(idle)).answer).toBe(answer);
  });
});

test('a number that no column fits ends in no answer, and the reasoning says so', () => {
  const { answer, reasoning } = answerFromTable(
    'How many rivers carry more than 5 boats?',
    rivers,
    new Workings(idle),
  );
  expect(answer).toBeNull();
  expect(reasoning).toMatch(/no column fits/);
});

test('several values where one is asked for are no answer', () => {
  const { answer, reasoning } = answerFromTable('In which city does Sales work?', staff, new Workings(idle));
  expect(answer).toBeNull();
  expect(reasoning).toContain('Turku, Oulu');
});

test('of a table that is not at hand as a whole, the query tool calculates', async () => {
  const asked: unknown[] = [];
  const workings = new Workings(async (tool, args) => {
    asked.push([tool, args]);
    return { text: '123', data: { value: 123 } };
  });
  const sheets = [
    {
      name: 'Rivers',
      columns: [...rivers.columns],
      rows: rivers.rows.map(({ cells }) => [...cells]),
      rows_left_out: 9_000,
    },
  ];
  const solution = await answerFromSheets(
    'What is the total length of the rivers in Norland?',
    { sheets },
    workings,
    'rivers.xlsx',
  );
  expect(solution.answer).toBe('123');
  expect(asked).toEqual([
    [
      'query_table',
      {
        file: 'rivers.xlsx',
        sheet: 'Rivers',
        where: [{ column: 'Country', op: '=', value: 'Norland' }],
        aggregate: 'sum',
        column: 'Length (km)',
      },
    ],
  ]);
});

test('sheets of the same columns are one table, unless the question names one', async () => {
  const sheet = (name: string, value: number) => ({
    name,
    columns: ['Item', 'Amount'],
    rows: [['Rope', value]],
  });
  const data = { sheets: [sheet('January', 10), sheet('February', 20)] };
  const answerTo = async (question: string) =>
    (await answerFromSheets(question, data, new Workings(idle))).answer;
  expect(await answerTo('What is the total amount for rope?')).toBe('30');
  expect(await answerTo('What is the total amount for rope in February?')).toBe('20');
});

test('a plan names only columns that the table has', () => {
  const plan = planQuery('What is the total length of the rivers?', columnsOf(rivers));
  expect(plan).toMatchObject({ ask: 'sum', column: 'Length (km)', where: [] });
});
