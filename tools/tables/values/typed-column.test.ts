import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DateOrder } from './date.ts';
import { typeColumn } from './typed-column.ts';

const datesOf = (cells: readonly string[], tableOrder?: DateOrder) => typeColumn(cells, tableOrder).values;

describe('a column of dates', () => {
  test.each([
    ['2024-02-16', '2024-02-16'],
    ['2024/2/16', '2024-02-16'],
    ['16.02.2024', '2024-02-16'],
    ['16/02/2024', '2024-02-16'],
    ['2/16/2024', '2024-02-16'],
    ['3/3/2024', '2024-03-03'],
    ['16 Feb 2024', '2024-02-16'],
    ['16-Feb-24', '2024-02-16'],
    ['16th of February, 2024', '2024-02-16'],
    ['Feb 16, 2024', '2024-02-16'],
    ['February 16th 2024', '2024-02-16'],
    ['Fri, 16 Feb 2024 14:30', '2024-02-16T14:30:00'],
    ['2024-02-16T14:30:05Z', '2024-02-16T14:30:05'],
    ['2/16/2024 2:30 PM', '2024-02-16T14:30:00'],
    ['16. März 2024', '2024-03-16'],
    ['16 février 2024', '2024-02-16'],
    ['16 de febrero de 2024', '2024-02-16'],
    ['February 2024', '2024-02'],
    ['2024-02', '2024-02'],
    ['29 Feb 2024', '2024-02-29'],
    ['1 Jan 0099', '0099-01-01'],
  ])('%s is %s', (text, date) => {
    expect(datesOf([text])).toEqual([date]);
  });

  test.each([
    '29 Feb 2023',
    '31/04/2024',
    '13/13/2024',
    '2024-00-01',
    '1234',
    'May',
    '10:30',
    '1.2.3.4',
    'soon',
  ])('%s is none', (text) => {
    expect(datesOf([text])).not.toContain(expect.stringContaining('-'));
    expect(typeColumn([text]).kind).not.toBe('date');
  });

  test('takes the order of day and month from the cells that can have one only', () => {
    expect(datesOf(['03/04/2024', '25/04/2024'])).toEqual(['2024-04-03', '2024-04-25']);
    expect(datesOf(['03/04/2024', '04/25/2024'])).toEqual(['2024-03-04', '2024-04-25']);
    expect(typeColumn(['03/04/2024', '04/25/2024']).isEither).toBe(false);
  });

  test('that nothing tells is said to be ambiguous, and what other columns show helps', () => {
    expect(typeColumn(['03/04/2024', '2024-01-01'])).toMatchObject({ isEither: true });
    expect(typeColumn(['03/03/2024', '05.04.2024'])).toMatchObject({ isEither: false });
    expect(datesOf(['03/04/2024'], 'mdy')).toEqual(['2024-03-04']);
    expect(datesOf(['03/04/2024', '25/04/2024'], 'mdy')).toEqual(['2024-04-03', '2024-04-25']);
  });

  test('gives no value to what is none', () => {
    expect(datesOf(['2024-01-01', '2024-01-02', 'n/a', ''])).toEqual([
      '2024-01-01',
      '2024-01-02',
      null,
      null,
    ]);
  });

  test('in eight digits, where all are', () => {
    expect(datesOf(['20240216', '20231231', '19990101'])).toEqual(['2024-02-16', '2023-12-31', '1999-01-01']);
    expect(typeColumn(['20240216', '20231231', '19999999']).kind).toBe('number');
  });

  test('whatever day, every notation is read back as that day', () => {
    const days = fc.integer({ min: -100_000, max: 60_000 });
    fc.assert(
      fc.property(days, (day) => {
        const date = new Date(day * 86_400_000);
        const iso = date.toISOString().slice(0, 10);
        const long = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(date);
        const german = `${date.getUTCDate()}.${date.getUTCMonth() + 1}.${date.getUTCFullYear()}`;
        fc.pre(date.getUTCFullYear() > 1000);
        expect(datesOf([iso, long, german])).toEqual([iso, iso, iso]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a column of quantities', () => {
  const read = (cells: readonly (string | number)[]) => {
    const { kind, unit, values } = typeColumn(cells);
    return [kind, unit, ...values];
  };
  test.each([
    [
      ['1,204', '7', 12],
      ['number', '', 1204, 7, 12],
    ],
    [
      ['1.204', '3,5', '1.000.000'],
      ['number', '', 1204, 3.5, 1000000],
    ],
    [
      ['1,204', '3.5'],
      ['number', '', 1204, 3.5],
    ],
    [
      ['5 km', '300 m', '2.5 km'],
      ['number', 'km', 5, 0.3, 2.5],
    ],
    [
      ['12%', '0.5 %'],
      ['number', '', 0.12, 0.005],
    ],
    [
      ['$1.2 million', '$300k', '$5'],
      ['money', 'USD', 1200000, 300000, 5],
    ],
    [
      ['5 EUR', '€7', '1.000,50 €'],
      ['money', 'EUR', 5, 7, 1000.5],
    ],
    [
      ['(5)', '−3', '+4'],
      ['number', '', -5, -3, 4],
    ],
    [
      ['1,234[5]', '12*'],
      ['number', '', 1234, 12],
    ],
    [
      ['3 goals', '5 goals', '1 goal'],
      ['number', 'goals', 3, 5, 1],
    ],
    [
      ['1:20:05', '59:30'],
      ['duration', '', 4805, 3570],
    ],
    [
      ['2 h 5 min', '90 min', '45 s'],
      ['duration', '', 7500, 5400, 45],
    ],
    [
      ['10:30', '23:15'],
      ['duration', '', 37800, 83700],
    ],
  ])('%j', (cells, expected) => {
    expect(read(cells)).toEqual(expected);
  });

  test('that has addresses, codes or prose is text', () => {
    expect(typeColumn(['12 Main St', '4 High Street', '9 Elm Row']).kind).toBe('text');
    expect(typeColumn(['A12', 'B7', 'C9']).kind).toBe('text');
    expect(typeColumn(['won 3 of 5', 'lost', '2-1']).kind).toBe('text');
  });

  test('gives no value to amounts of another currency and to units of other things', () => {
    expect(read(['5 €', '$3', '7 €'])).toEqual(['money', 'EUR', 5, null, 7]);
    expect(read(['5 km', '3 kg', '7 km'])).toEqual(['number', 'km', 5, null, 7]);
  });
});
