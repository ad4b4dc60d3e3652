import { expect, test } from 'vitest';
import { documentTools } from '../document-tools.ts';
import { queryTable } from '../tables/query-table.ts';
import { docxOf, docxParagraph, zipOf } from '../testing/documents.ts';
import { taskPlace } from '../testing/task-place.ts';

const { read_file: readFile, read_zip: readZip } = documentTools;

const archive = async () =>
  zipOf({
    'notes/read me.txt': 'hello',
    'data.csv': 'a,b\n1,2\n',
    'letter.docx': await docxOf(docxParagraph('Dear reader')),
    'inner.zip': await zipOf({ 'a.txt': '' }),
    'photo.png': 'x',
    LICENSE: 'free',
  });

test('lists the members with their sizes', async () => {
  const { text, data } = await readZip.run({ file: 'a.zip' }, taskPlace({ 'a.zip': await archive() }));
  expect(text).toMatch(
    /^\.\/a\.zip: ZIP archive, \d+ bytes, 6 files of \d+ bytes\n\nnotes\/read me\.txt \(5 bytes\)\ndata\.csv \(8 bytes\)\n/,
  );
  expect(data?.entries).toHaveLength(6);
});

test.each([
  ['notes/read me.txt', './a.zip/notes/read me.txt: text, utf-8, 5 bytes, 1 lines\n\nhello'],
  ['READ ME.TXT', 'hello'],
  ['data.csv', '| 2 | 1 | 2 |'],
  ['letter.docx', 'Dear reader'],
  ['LICENSE', 'free'],
])('reads the member %s by the reader for its kind', async (entry, expected) => {
  const { text } = await readZip.run({ file: 'a.zip', entry }, taskPlace({ 'a.zip': await archive() }));
  expect(text).toContain(expected);
});

test.each([
  ['inner.zip', './a.zip/inner.zip is an archive in an archive'],
  ['photo.png', 'use analyze_image'],
  ['none.txt', './a.zip has no member none.txt: it has notes/'],
])('refuses the member %s', async (entry, message) => {
  await expect(
    readZip.run({ file: 'a.zip', entry }, taskPlace({ 'a.zip': await archive() })),
  ).rejects.toThrow(message);
});

test('a member whose name leads outside is listed with a warning, and not read (RA-52)', async () => {
  const place = taskPlace({ 'a.zip': await zipOf({ '../evil.txt': 'x' }) });
  expect((await readZip.run({ file: 'a.zip' }, place)).text).toContain(
    '../evil.txt (1 bytes, its name leads outside, cannot be read)',
  );
  await expect(readZip.run({ file: 'a.zip', entry: '../evil.txt' }, place)).rejects.toThrow(
    'leads outside of the archive',
  );
});

test('reads all members, one after the other; what cannot be read says why, and what has no room is named', async () => {
  const { text, data } = await readZip.run(
    { file: 'a.zip', entry: '*' },
    taskPlace({ 'a.zip': await archive() }),
  );
  for (const part of ['hello', '| 2 | 1 | 2 |', 'Dear reader', 'free']) expect(text).toContain(part);
  expect(text).toContain('[./a.zip/inner.zip is an archive in an archive');
  expect(text).toContain('[./a.zip/photo.png holds no text: use analyze_image]');
  expect(data).toEqual({ read: 6, left: 0 });

  const large = await zipOf(
    Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.txt`, `${i}`.repeat(9000)])),
  );
  const many = await readZip.run({ file: 'a.zip', entry: '*' }, taskPlace({ 'a.zip': large }));
  expect(many.text.length).toBeLessThan(24_000);
  expect(many.text).toContain('more characters; read it by its name]');
  expect(many.text).toContain('[not read, since the reply is full: 4.txt, 5.txt');
});

test('every tool opens a member by its name behind that of the archive', async () => {
  const place = taskPlace({ 'a.zip': await archive() });
  const sql = 'SELECT sum(b) FROM t1';
  expect((await queryTable.run({ file: 'a.zip/data.csv', sql }, place)).data?.rows).toEqual([[2]]);
  expect((await readFile.run({ file: './a.zip/notes/read me.txt' }, place)).text).toContain('hello');
  await expect(readFile.run({ file: 'a.zip/none.txt' }, place)).rejects.toThrow('has no member none.txt');
  await expect(readFile.run({ file: 'b.zip/none.txt' }, place)).rejects.toThrow('there is no file b.zip');
});
