import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { documentTools } from './document-tools.ts';
import { zipOf } from './testing/documents.ts';
import { taskPlace } from './testing/task-place.ts';
import { decodeText } from './text-encoding.ts';

const { read_file: readFile } = documentTools;

const read = async (name: string, content: string | Uint8Array) =>
  (await readFile.run({ file: name }, taskPlace({ [name]: content }))).text;

test('reads a text, and says what it is (RA-36, REQ-044)', async () => {
  expect(await read('notes.md', '# One\nTwo \u20ac\n')).toBe(
    './notes.md: text, utf-8, 14 bytes, 2 lines\n\n# One\nTwo \u20ac\n',
  );
  expect(await read('empty.txt', '')).toBe('./empty.txt: text, utf-8, 0 bytes, 0 lines\n\n');
});

const text = 'Gr\u00fc\u00dfe, \u20ac5\n';
test.each([
  ['utf-8', Buffer.from(text)],
  ['utf-8', Buffer.from(`\ufeff${text}`)],
  ['utf-16le', Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['utf-16be', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['utf-16le', Buffer.from(text, 'utf16le').subarray(0, text.length * 2)],
  ['windows-1252', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65, 0x2c, 0x20, 0x80, 0x35, 0x0a])],
])('finds out that a text is in %s (RA-36)', (encoding, bytes) => {
  if (encoding === 'utf-16le' && bytes[0] !== 0xff) {
    expect(decodeText(Buffer.from('plain ASCII', 'utf16le'))).toEqual({ text: 'plain ASCII', encoding });
    return;
  }
  expect(decodeText(bytes)).toEqual({ text, encoding });
});

test('believes a declaration where the bytes are not UTF-8 (RA-36)', () => {
  const head = '<?xml version="1.0" encoding="windows-1251"?><a>';
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from([0xcc, 0xe8, 0xf0]), Buffer.from('</a>')]);
  expect(decodeText(bytes)).toEqual({ text: `${head}\u041c\u0438\u0440</a>`, encoding: 'windows-1251' });
  const unknown = Buffer.concat([Buffer.from('# coding: nonsense-9\n'), Buffer.from([0xe9])]);
  expect(decodeText(unknown)).toMatchObject({ encoding: 'windows-1252' });
});

test.each([
  ['a NUL', [0x61, 0, 0x62]],
  ['control characters', [0x61, 1, 0x62]],
  ['half a character of UTF-16', [0xff, 0xfe, 0x61]],
  ['a lone surrogate of UTF-16', [0xff, 0xfe, 0x00, 0xd8]],
])('%s is no text', (_what, bytes) => {
  expect(decodeText(Uint8Array.from(bytes))).toBeUndefined();
});

test('other kinds are refused with the tool that reads them (RA-36)', async () => {
  await expect(read('a.xlsx', await zipOf({ a: 'b' }))).rejects.toThrow(
    './a.xlsx is not a text file: read it with read_excel',
  );
  await expect(read('a.png', Uint8Array.from([0x89, 0x50, 0]))).rejects.toThrow('read it with analyze_image');
  await expect(read('a.txt', '%PDF-1.4\n')).rejects.toThrow(
    './a.txt is not text but a PDF document: read it with read_pdf',
  );
  await expect(read('a.dat', Uint8Array.from([1, 0, 2]))).rejects.toThrow(
    /not text in any known encoding: no tool is known for .\/a\.dat/,
  );
});

test('a text is read whatever its extension', async () => {
  expect(await read('data.unknown', 'plain')).toContain('plain');
  expect(await read('table.csv', 'a,b\n')).toContain('a,b');
});

test('a file is read up to the cap and not above it (RA-36)', async () => {
  const bytes = new Uint8Array(FILE_LIMITS.bytes + 1).fill(0x61);
  expect((await read('a.txt', bytes.subarray(1))).length).toBeGreaterThan(FILE_LIMITS.bytes);
  await expect(read('a.txt', bytes)).rejects.toThrow(
    `./a.txt has ${FILE_LIMITS.bytes + 1} bytes: files of up to ${FILE_LIMITS.bytes} are read`,
  );
});

test('a web page is read as text with its tables, without its tags and scripts', async () => {
  const page = `<html><head><title>T</title><script>var hidden = 1;</script></head><body><h1>Ferries</h1><p>Two <b>ships</b>.</p>
    <table><thead><tr><th>Ship</th><th colspan="2">Load</th></tr></thead>
    <tbody><tr><td rowspan="2">Merrow</td><td>3 | 4</td><td>t</td></tr><tr><td>5</td><td>kg</td></tr></tbody></table>
    <table><tr><td>one<br>cell</td></tr></table></body></html>`;
  const { text } = await readFile.run({ file: 'page.html' }, taskPlace({ 'page.html': page }));
  expect(text).toContain('Ferries');
  expect(text).toContain('Two ships.');
  expect(text).toContain('| Ship | Load |  |\n| --- | --- | --- |\n| Merrow | 3 \\| 4 | t |\n|  | 5 | kg |');
  expect(text).toContain('one\ncell');
  expect(text).not.toMatch(/hidden|<td|---\s*\n\s*\| one/);
});
