import { expect, test } from 'vitest';
import { documentTools } from '../document-tools.ts';
import { docxOf, docxParagraph } from '../testing/documents.ts';
import { taskPlace } from '../testing/task-place.ts';

const { read_docx: readDocx } = documentTools;

const cell = (text: string) => `<w:tc>${docxParagraph(text)}</w:tc>`;
const table = (...rows: string[][]) =>
  `<w:tbl>${rows.map((row) => `<w:tr>${row.map(cell).join('')}</w:tr>`).join('')}</w:tbl>`;

test('reads headings, paragraphs and tables as Markdown', async () => {
  const bytes = await docxOf(
    docxParagraph('Title', 'Heading1') + docxParagraph('Fish &amp; chips') + table(['a', 'b'], ['1', '2']),
  );
  const { text } = await readDocx.run({ file: 'a.docx' }, taskPlace({ 'a.docx': bytes }));
  expect(text).toMatch(new RegExp(`^\\./a\\.docx: Word document, ${bytes.length} bytes\n\n`));
  expect(text).toContain('Fish & chips');
  expect(text).toMatch(/Title/);
  expect(text).toMatch(/\|\s*a\s*\|\s*b\s*\|/);
  expect(text).toMatch(/\|\s*1\s*\|\s*2\s*\|/);
});

test('tables in tables in tables still give their text', async () => {
  let nested = docxParagraph('deepest');
  for (let i = 0; i < 150; i++) nested = `<w:tbl><w:tr><w:tc>${nested}<w:p/></w:tc></w:tr></w:tbl>`;
  const place = taskPlace({ 'a.docx': await docxOf(nested) });
  expect((await readDocx.run({ file: 'a.docx' }, place)).text).toContain('deepest');
});
