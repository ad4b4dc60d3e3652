import path from 'node:path';
import { expect, test } from 'vitest';
import { readAnyText } from './read-any.ts';
import { docxOf, docxParagraph, pdfOf, pdfText, pptxOf, shapeOf, zipOf } from './testing/documents.ts';
import { taskPlace } from './testing/task-place.ts';

const idle = new AbortController().signal;

test.each([
  ['a.txt', async () => Buffer.from('plain text'), 'plain text'],
  ['a.unknown', async () => Buffer.from('plain text'), 'plain text'],
  ['a.CSV', async () => Buffer.from('a,b\n1,2\n'), '| 2 | 1 | 2 |'],
  ['a.pdf', async () => pdfOf([pdfText(['a page'])]), 'a page'],
  ['a.docx', () => docxOf(docxParagraph('a letter')), 'a letter'],
  ['a.pptx', () => pptxOf([{ shapes: shapeOf(['a slide']) }]), 'a slide'],
  ['a.zip', () => zipOf({ 'inner.txt': 'x' }), 'inner.txt (1 bytes)'],
])('gives the text of %s (REQ-044, SV-14)', async (name, bytes, expected) => {
  const { files } = taskPlace({ [name]: await bytes() });
  expect(await readAnyText(path.join(files, name), idle)).toContain(expected);
});

test('gives the text alone: who counts its lines must not count one about the file', async () => {
  const { files } = taskPlace({
    'a.txt': 'one\n\ntwo\n',
    'a.docx': await docxOf(docxParagraph('a letter')),
    'empty.txt': '',
  });
  const text = (name: string) => readAnyText(path.join(files, name), idle);
  expect(await text('a.txt')).toBe('one\n\ntwo\n');
  expect(await text('a.docx')).toBe('a letter');
  expect(await text('empty.txt')).toBe('');
});

test('pictures and recordings are left to their tools (SV-14)', async () => {
  const { files } = taskPlace({ 'a.png': 'x', 'a.mp3': 'x' });
  await expect(readAnyText(path.join(files, 'a.png'), idle)).rejects.toThrow(
    'a.png holds no text: analyze_image is for such files',
  );
  await expect(readAnyText(path.join(files, 'a.mp3'), idle)).rejects.toThrow('understand_audio');
});

test('a missing file is reported with its path (REQ-052)', async () => {
  const { files } = taskPlace();
  const missing = path.join(files, 'none.pdf');
  await expect(readAnyText(missing, idle)).rejects.toThrow(
    `none.pdf cannot be read (${missing}): there is no such file`,
  );
});

test('an unreadable one, too (REQ-052)', async () => {
  const { files } = taskPlace({ 'a.bin': Uint8Array.from([0, 1, 2]) });
  await expect(readAnyText(path.join(files, 'a.bin'), idle)).rejects.toThrow(
    'a.bin holds bytes that are no text',
  );
  await expect(readAnyText(files, idle)).rejects.toMatchObject({ code: 'tool' });
});
