import * as XLSX from '@e965/xlsx';
import { describe, expect, test } from 'vitest';
import { documentTools } from '../document-tools.ts';
import { loaded, styledXlsx } from '../testing/documents.ts';
import { taskPlace } from '../testing/task-place.ts';
import type { Sheet } from './sheet.ts';
import { readSheets } from './workbook.ts';

const { read_excel: readExcel } = documentTools;

const day = (iso: string) => new Date(`${iso}Z`);

function book(
  sheets: Readonly<Record<string, XLSX.WorkSheet>>,
  bookType: XLSX.BookType = 'xlsx',
): Uint8Array {
  const workbook = XLSX.utils.book_new();
  for (const [name, sheet] of Object.entries(sheets)) XLSX.utils.book_append_sheet(workbook, sheet, name);
  return new Uint8Array(XLSX.write(workbook, { type: 'buffer', bookType }));
}

function sales(): XLSX.WorkSheet {
  const sheet = XLSX.utils.aoa_to_sheet([
    ['Sales of the year', null, null],
    ['Name', 'Date', 'Amount'],
    ['Ann | Co', day('2024-03-01T00:00:00'), 1.5],
    ['Bob', day('2024-02-29T10:30:00'), 0.1 + 0.2],
    ['All', null, null],
  ]);
  sheet.C5 = { t: 'n', f: 'SUM(C3:C4)', v: 1.8 };
  // A text at the top of a column of dates, with the column's format.
  sheet.B2 = { t: 's', v: 'Date', z: 'yyyy-mm-dd' };
  sheet['!merges'] = [XLSX.utils.decode_range('A1:C1')];
  return sheet;
}

const run = async (
  name: string,
  content: string | Uint8Array,
  more: { sheet?: string; max_rows?: number } = {},
) => readExcel.run({ file: name, ...more }, taskPlace({ [name]: content }));

describe('read_excel', () => {
  test('reads all sheets with dates, formulas and merged cells (RA-37, REQ-044)', async () => {
    const other = XLSX.utils.aoa_to_sheet([['x'], [true]]);
    const { text, data } = await run('sales.xlsx', book({ Sales: sales(), Other: other }));
    expect(text.split('\n').slice(1)).toEqual([
      '',
      '## Sheet "Sales": 3 rows below the header, 3 columns',
      'Row 1: Sales of the year',
      'The header is row 2.',
      '',
      '| row | A: Name | B: Date | C: Amount |',
      '| --- | --- | --- | --- |',
      '| 3 | Ann \\| Co | 2024-03-01 | 1.5 |',
      '| 4 | Bob | 2024-02-29T10:30:00 | 0.3 |',
      '| 5 | All |  | 1.8 |',
      '',
      'Formulas: C5 =SUM(C3:C4)',
      'Merged cells: A1:C1',
      '',
      '## Sheet "Other": 1 rows below the header, 1 columns',
      'The header is row 1.',
      '',
      '| row | A: x |',
      '| --- | --- |',
      '| 2 | TRUE |',
      '',
    ]);
    expect(text).toMatch(
      /^\.\/sales\.xlsx: spreadsheet, \d+ bytes, 2 sheets: Sales \(5 rows\), Other \(2 rows\)\n/,
    );
    expect(data).toEqual({
      sheets: [
        {
          name: 'Sales',
          columns: ['Name', 'Date', 'Amount'],
          rows: [
            ['Ann | Co', '2024-03-01', 1.5],
            ['Bob', '2024-02-29T10:30:00', 0.3],
            ['All', null, 1.8],
          ],
        },
        { name: 'Other', columns: ['x'], rows: [[true]] },
      ],
    });
  });

  test('reads one sheet by its name without case, and names those there are (RA-37)', async () => {
    const bytes = book({ One: sales(), Two: sales() });
    expect((await run('a.xlsx', bytes, { sheet: 'two' })).data).toMatchObject({ sheets: [{ name: 'Two' }] });
    await expect(run('a.xlsx', bytes, { sheet: 'Three' })).rejects.toThrow(
      './a.xlsx has no sheet "Three": it has "One", "Two"',
    );
  });

  test('says how many rows were left out (RA-37)', async () => {
    const rows = Array.from({ length: 205 }, (_, i) => [`n${i}`, i]);
    const bytes = book({ S: XLSX.utils.aoa_to_sheet([['Name', 'N'], ...rows]) });
    const cut = await run('a.xlsx', bytes);
    expect(cut.text).toContain('[cut: 5 more rows;');
    expect(cut.data).toMatchObject({ sheets: [{ rows_left_out: 5 }] });
    const whole = await run('a.xlsx', bytes, { max_rows: 205 });
    expect(whole.text).not.toContain('[cut');
    expect(JSON.stringify(whole.data)).not.toContain('rows_left_out');
  });

  test('a reply stays small, whatever the table holds', async () => {
    const wide = Array.from({ length: 1000 }, (_, i) =>
      Array.from({ length: 40 }, (_, k) => `${'x'.repeat(600)}${i}${k}`),
    );
    const { text, data } = await run('a.csv', wide.map((line) => line.join(',')).join('\n'), {
      max_rows: 1000,
    });
    expect(text.length).toBeLessThan(250_000);
    expect(text).toMatch(/\[cut: \d+ more rows/);
    expect(JSON.stringify(data).length).toBeLessThan(20_000 * 510);
  });

  test('says which cells are filled with which colour, empty ones too (RA-37)', async () => {
    const bytes = await styledXlsx(
      '<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>Plot</t></is></c><c r="B1" s="1"/><c r="D1" s="1"/></row>' +
        '<row r="3"><c r="B3" s="2"/><c r="C3" s="3"/></row>',
      ['<fgColor rgb="FF00FF00"/>', '<fgColor rgb="FFFFFF00"/>', '<fgColor theme="4"/>'],
    );
    const { text } = await run('map.xlsx', bytes);
    expect(text).toContain('Filled with 00FF00 (green), 3 cells: A1:B1; D1\n');
    expect(text).toContain('Filled with FFFF00 (yellow), 1 cells: B3\n');
    expect(text).toContain('Filled with theme colour 4, 1 cells: C3');
  });

  test('a sheet without values says so (RA-37)', async () => {
    const { text, data } = await run(
      'map.xlsx',
      await styledXlsx('<row r="2"><c r="B2" s="1"/></row>', ['<fgColor rgb="FFFF0000"/>']),
    );
    expect(text).toContain('The sheet holds no values.\nFilled with FF0000 (red), 1 cells: B2');
    expect(data).toEqual({ sheets: [{ name: 'Map', columns: [], rows: [] }] });
  });
});

/** Returns all rows of a sheet: those above the header, the header, and those below. */
function rowsOf(sheet: Sheet | undefined) {
  return sheet === undefined
    ? []
    : [...sheet.above, sheet.header, ...sheet.rows].filter((row) => row !== undefined);
}

describe('readSheets', () => {
  test.each(['xlsx', 'xlsb', 'biff8', 'ods'] as const)(
    'reads what a program writes as %s (RA-37)',
    async (type) => {
      const [sheet] = await readSheets(loaded('a.bin', book({ Sales: sales() }, type)));
      expect(sheet?.name).toBe('Sales');
      expect(rowsOf(sheet).map(({ cells }) => cells)).toEqual([
        ['Sales of the year'],
        ['Name', 'Date', 'Amount'],
        ['Ann | Co', '2024-03-01', 1.5],
        ['Bob', '2024-02-29T10:30:00', 0.3],
        ['All', null, 1.8],
      ]);
      expect(sheet?.merged).toEqual(['A1:C1']);
    },
  );

  test('times, durations, errors and books that count from 1904 (RA-37)', async () => {
    const sheet = XLSX.utils.aoa_to_sheet([['Time', 'Took', 'Error', 'Percent', 'Long', 'Never calculated']]);
    sheet.A2 = { t: 'n', v: 0.4375, z: 'h:mm' };
    sheet.B2 = { t: 'n', v: 1.5, z: '[h]:mm' };
    sheet.C2 = { t: 'e', v: 7 };
    sheet.D2 = { t: 'n', v: 0.25, z: '0%' };
    sheet.E2 = { t: 'n', v: 9007199254740991 };
    sheet['!ref'] = 'A1:F2';
    const [read] = await readSheets(loaded('a.xlsx', book({ S: sheet })));
    expect(rowsOf(read)[1]?.cells).toEqual(['10:30:00', '36:00', '#DIV/0!', 0.25, 9007199254740991]);
    const workbook = XLSX.utils.book_new(
      XLSX.utils.aoa_to_sheet([[{ t: 'n', v: 0, z: 'yyyy-mm-dd' }], [{ t: 'n', v: 100, z: 'yyyy-mm-dd' }]]),
    );
    workbook.Workbook = { WBProps: { date1904: true } };
    const [old] = await readSheets(
      loaded('a.xlsx', new Uint8Array(XLSX.write(workbook, { type: 'buffer' }))),
    );
    expect(rowsOf(old)[1]?.cells).toEqual(['1904-04-10']);
  });

  test('a formula that was never calculated has no value, not 0 (RA-37)', async () => {
    const bytes = await styledXlsx(
      '<row r="1"><c r="A1" t="inlineStr"><is><t>Sum</t></is></c></row><row r="2"><c r="A2"><f>1+1</f></c></row>',
      [],
    );
    const [sheet] = await readSheets(loaded('a.xlsx', bytes));
    expect(rowsOf(sheet)).toHaveLength(1);
    expect(sheet?.formulas).toEqual(['A2 =1+1']);
  });

  test('a sheet whose only cell is its last is read at once (RA-37)', async () => {
    const bytes = await styledXlsx(
      '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="B1048576"><v>2</v></c><c r="XFD1048576"><v>3</v></c></row>',
      [],
    );
    const [sheet] = await readSheets(loaded('a.xlsx', bytes));
    expect(rowsOf(sheet)).toEqual([
      { number: 1, cells: [1] },
      { number: 1048576, cells: [null, 2] },
    ]);
    expect(sheet?.isWhole).toBe(false);
  });

  test.each([
    [
      'a.csv',
      'a,b\n1,"x, y"\n\n3,4',
      [
        ['a', 'b'],
        ['1', 'x, y'],
        ['3', '4'],
      ],
    ],
    [
      'a.csv',
      'a;b\n1,5;2\n',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'a.tsv',
      'a\tb, c\n1\t2\n',
      [
        ['a', 'b, c'],
        ['1', '2'],
      ],
    ],
    [
      'a.csv',
      'a|b\n1|2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a.csv', '\ufeffName\nx\n', [['Name'], ['x']]],
    ['a.csv', 'a,b\n1\n2,3,4\n', [['a', 'b'], ['1'], ['2', '3', '4']]],
    [
      'a.csv',
      'size,n\n5" pipe,2\n',
      [
        ['size', 'n'],
        ['5" pipe', '2'],
      ],
    ],
    ['a.csv', '', []],
    [
      'wrong.xlsx',
      'a,b\n007,2\n',
      [
        ['a', 'b'],
        ['007', '2'],
      ],
    ],
  ])('%s as %j (RA-37)', async (name, content, rows) => {
    const [sheet] = await readSheets(loaded(name, content));
    expect(rowsOf(sheet).map(({ cells }) => cells)).toEqual(rows);
  });

  test('row numbers are those of the spreadsheet, where rows are empty, too', async () => {
    const [sheet] = await readSheets(loaded('a.csv', 'a,b\n,\n1,2\n'));
    expect(rowsOf(sheet).map(({ number }) => number)).toEqual([1, 3]);
  });

  test('a table that a program wrote as HTML and called .xls is one', async () => {
    const [sheet] = await readSheets(
      loaded(
        'a.xls',
        '<html><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></html>',
      ),
    );
    expect(rowsOf(sheet).map(({ cells }) => cells)).toEqual([
      ['a', 'b'],
      [1, 2],
    ]);
  });

  test('a document of another kind is refused', async () => {
    for (const content of [
      Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0]),
      Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0]),
    ]) {
      await expect(readSheets(loaded('a.xls', content))).rejects.toMatchObject({ code: 'tool' });
    }
  });
});
