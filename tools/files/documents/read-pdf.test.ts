import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { documentTools } from '../document-tools.ts';
import { loaded, pdfOf, pdfText } from '../testing/documents.ts';
import { taskPlace } from '../testing/task-place.ts';
import { reportPdf } from './pdf-report.ts';

const { read_pdf: readPdf } = documentTools;

const three = pdfOf([pdfText(['First page', 'second line']), pdfText(['Page two']), '']);

test('reads the text page by page, line by line (REQ-044)', async () => {
  const { text } = await readPdf.run({ file: 'a.pdf' }, taskPlace({ 'a.pdf': three }));
  expect(text).toBe(
    `./a.pdf: PDF document, ${three.length} bytes, 3 pages\n\n--- page 1 ---\nFirst page\nsecond line\n\n--- page 2 ---\nPage two\n\n` +
      '--- page 3 ---\n\n\n[no text on 1 of these pages (3): they are empty, or pictures]',
  );
});

test('reads the pages that are asked for', async () => {
  const text = await reportPdf(loaded('a.pdf', three), '2, 1-2');
  expect(text).toContain('Page two');
  expect(text).toContain('First page');
  expect(text).not.toContain('page 3');
  for (const pages of ['4', '2-4', '0', '3-2']) {
    await expect(reportPdf(loaded('a.pdf', three), pages)).rejects.toThrow(
      `a.pdf has pages 1 to 3, but not ${pages}`,
    );
  }
});

test.each([
  ['1', true],
  ['2-4,7', true],
  [' 1 - 2 , 3 ', true],
  ['', false],
  ['a', false],
  ['1-', false],
  ['-1', false],
  ['1;2', false],
])('pages %j: %s', (pages, isValid) => {
  expect(readPdf.input.safeParse({ file: 'a.pdf', pages }).success).toBe(isValid);
});

test('reads packed streams, and keeps columns apart', async () => {
  const row = 'BT /F1 12 Tf 72 720 Td (Item) Tj 200 0 Td (Price) Tj ET';
  const bytes = pdfOf([row], { name: '/FlateDecode', pack: deflateSync });
  expect(await reportPdf(loaded('a.pdf', bytes))).toContain('Item   Price');
});

test('a document that needs a password says so', async () => {
  const encrypted = Buffer.from(three)
    .toString('latin1')
    .replace(
      '/Root 1 0 R',
      '/Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /O (01234567890123456789012345678901) /U (01234567890123456789012345678901) /P -4 >> /ID [(a) (a)]',
    );
  await expect(reportPdf(loaded('a.pdf', Buffer.from(encrypted, 'latin1')))).rejects.toThrow(
    /a\.pdf \(\d+ bytes\) cannot be read as a PDF document: .*[Pp]assword/,
  );
});
