import { deflateSync } from 'node:zlib';
import * as XLSX from '@e965/xlsx';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfined } from './read-confined.ts';
import { perform, type Reading } from './reading/reading.ts';
import {
  docxOf,
  docxParagraph,
  loaded,
  pdfOf,
  pdfText,
  pptxOf,
  shapeOf,
  styledXlsx,
  zipOf,
} from './testing/documents.ts';

interface Sample {
  readonly name: string;
  readonly reading: Reading;
  readonly bytes: Uint8Array;
}

const SHEET =
  '<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>n</t></is></c></row><row r="2"><c r="A2"><v>4</v></c></row>';
const FILL = '<fgColor rgb="FF00FF00"/>';

async function samples(): Promise<Sample[]> {
  const xlsx = await styledXlsx(SHEET, [FILL]);
  const workbook = XLSX.utils.book_new(
    XLSX.utils.aoa_to_sheet([
      ['n', 'm'],
      [1, 2],
    ]),
  );
  const written = (bookType: XLSX.BookType) =>
    new Uint8Array(XLSX.write(workbook, { type: 'buffer', bookType }));
  const spreadsheet: Reading = { kind: 'spreadsheet' };
  return [
    { name: 'a.xlsx', reading: spreadsheet, bytes: xlsx },
    { name: 'a.xls', reading: spreadsheet, bytes: written('biff8') },
    { name: 'a.ods', reading: spreadsheet, bytes: written('ods') },
    { name: 'a.csv', reading: spreadsheet, bytes: Buffer.from('a,"b\nc",d\n1,2,3\n') },
    {
      name: 'a.pdf',
      reading: { kind: 'pdf' },
      bytes: pdfOf([pdfText(['one']), pdfText(['two'])], { name: '/FlateDecode', pack: deflateSync }),
    },
    { name: 'a.pdf', reading: { kind: 'pdf' }, bytes: pdfOf([pdfText(['one'])]) },
    { name: 'a.docx', reading: { kind: 'docx' }, bytes: await docxOf(docxParagraph('x', 'Heading1')) },
    {
      name: 'a.pptx',
      reading: { kind: 'pptx' },
      bytes: await pptxOf([{ shapes: shapeOf(['x']), notes: 'y' }]),
    },
    {
      name: 'a.zip',
      reading: { kind: 'zip', entry: 'a.csv' },
      bytes: await zipOf({ 'a.csv': 'a,b\n1,2\n' }),
    },
  ];
}

/** Resolves when the file is read or refused as it should be; anything else that is thrown is a bug. */
async function readOrRefused(name: string, reading: Reading, bytes: Uint8Array): Promise<void> {
  try {
    const { text, data } = await perform(reading, loaded(name, bytes));
    expect(text.isWellFormed()).toBe(true);
    expect(JSON.parse(JSON.stringify(data ?? {}))).toEqual(data ?? {});
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    expect(error.code).toBe('tool');
    expect(error.message).toContain(name);
  }
}

const damages = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('set' as const), at: fc.nat(), byte: fc.nat(255) }),
    fc.record({
      kind: fc.constant('insert' as const),
      at: fc.nat(),
      bytes: fc.uint8Array({ maxLength: 12 }),
    }),
  ),
  { minLength: 1, maxLength: 4 },
);

function damaged(
  bytes: Uint8Array,
  list: typeof damages extends fc.Arbitrary<infer List> ? List : never,
): Uint8Array {
  let result = Buffer.from(bytes);
  for (const damage of list) {
    const at = result.length === 0 ? 0 : damage.at % result.length;
    if (damage.kind === 'cut') result = Buffer.from(result.subarray(0, at));
    else if (damage.kind === 'insert')
      result = Buffer.concat([result.subarray(0, at), damage.bytes, result.subarray(at)]);
    else if (at < result.length) result.writeUInt8(damage.byte, at);
  }
  return result;
}

describe('whatever the bytes are, a file is read or refused', () => {
  test('damaged documents', async () => {
    for (const { name, reading, bytes } of await samples()) {
      await fc.assert(
        fc.asyncProperty(damages, (list) => readOrRefused(name, reading, damaged(bytes, list))),
        { seed: 52, numRuns: 20 },
      );
    }
  });

  test('bytes at random behind the first bytes of each kind', async () => {
    for (const { name, reading, bytes } of await samples()) {
      const random = fc.tuple(fc.constantFrom(0, 4, 8, 16), fc.uint8Array({ maxLength: 300 }));
      await fc.assert(
        fc.asyncProperty(random, ([head, rest]) =>
          readOrRefused(name, reading, Buffer.concat([bytes.subarray(0, head), rest])),
        ),
        { seed: 53, numRuns: 15 },
      );
    }
  });

  test('packages whose parts are damaged', async () => {
    const text = (value: string, list: Parameters<typeof damaged>[1]) =>
      damaged(Buffer.from(value), list).toString();
    await fc.assert(
      fc.asyncProperty(damages, async (list) => {
        const [sheet, fill, body, shapes] = [SHEET, FILL, docxParagraph('x'), shapeOf(['x'])].map((part) =>
          text(part, list),
        );
        await readOrRefused('a.xlsx', { kind: 'spreadsheet' }, await styledXlsx(sheet ?? '', [FILL]));
        await readOrRefused('a.xlsx', { kind: 'spreadsheet' }, await styledXlsx(SHEET, [fill ?? '']));
        await readOrRefused('a.docx', { kind: 'docx' }, await docxOf(body ?? ''));
        await readOrRefused('a.pptx', { kind: 'pptx' }, await pptxOf([{ shapes: shapes ?? '' }]));
      }),
      { seed: 54, numRuns: 20 },
    );
  });
});

describe('a file that was made to take for ever is stopped', () => {
  const idle = new AbortController().signal;

  test('when it takes too much memory outside of the heap', async () => {
    const bomb = pdfOf(['x'], {
      name: '/FlateDecode',
      pack: () => deflateSync(Buffer.alloc(400e6, ' '), { level: 1 }),
    });
    const bounds = { ms: 60_000, megabytes: 256 };
    await expect(readConfined(loaded('a.pdf', bomb), { kind: 'pdf' }, idle, bounds)).rejects.toThrow(
      'a.pdf was not read: it took more than 256 MB of memory',
    );
  });

  test('when it takes too much of the heap', async () => {
    const bytes = await docxOf(docxParagraph('x').repeat(60_000));
    const bounds = { ms: 60_000, megabytes: 72 };
    await expect(readConfined(loaded('a.docx', bytes), { kind: 'docx' }, idle, bounds)).rejects.toThrow(
      'a.docx was not read: it took more than 72 MB of memory',
    );
  });

  test('when it takes too long', async () => {
    const operators = `BT /F1 12 Tf ${`(${'a'.repeat(60)}) Tj 0 -1 Td `.repeat(500_000)} ET`;
    const bytes = pdfOf([operators], { name: '/FlateDecode', pack: deflateSync });
    const bounds = { ms: 1500, megabytes: 1200 };
    await expect(readConfined(loaded('a.pdf', bytes), { kind: 'pdf' }, idle, bounds)).rejects.toThrow(
      'a.pdf was not read: it took longer than 1.5 s',
    );
  });

  test('a process that was stopped leaves room for others', async () => {
    const hang = () =>
      readConfined(loaded('a.csv', 'a,b\n'.repeat(100_000)), { kind: 'spreadsheet' }, idle, {
        ms: 1,
        megabytes: 600,
      });
    await Promise.all(Array.from({ length: 5 }, () => expect(hang()).rejects.toThrow('it took longer than')));
    expect((await readConfined(loaded('a.csv', 'a,b\n1,2\n'), { kind: 'spreadsheet' }, idle)).text).toContain(
      '| 2 | 1 | 2 |',
    );
  });
});
