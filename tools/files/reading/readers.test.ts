import { expect, test } from 'vitest';
import { describeContent, explainNoReader, findReader } from './readers.ts';

test.each([
  ['read_excel', ['a.xlsx', 'a.xls', 'a.csv', 'a.tsv', 'a.ods']],
  ['understand_audio', ['a.mp3', 'a.wav', 'a.m4a']],
  ['analyze_image', ['a.png', 'a.jpg', 'a.jpeg', 'a.gif', 'a.webp']],
  ['read_pdf', ['a.pdf']],
  ['read_file', ['a.txt', 'a.py', 'a.json', 'a.md', 'a.xml', 'a.jsonl', 'a.jsonld', 'a.pdb', 'a.html']],
  ['read_docx', ['a.docx']],
  ['read_pptx', ['a.pptx']],
  ['read_zip', ['a.zip']],
])('%s is for its extensions (SV-14, C-26)', (reader, names) => {
  for (const name of names) expect(findReader(name), name).toBe(reader);
});

test.each(['a.xyz', 'a', '.pdf', 'a.', 'pdf', 'a.pdf/b', '', 'a.constructor', 'a.__proto__'])(
  '%j has no reader',
  (name) => {
    expect(findReader(name)).toBeUndefined();
  },
);

test.each([
  ['text', ['a.txt', 'a.MD', 'a.html', 'a.pdf', 'a.docx', 'a.pptx', 'a.log']],
  ['table', ['a.xlsx', 'a.csv']],
  ['data', ['a.json', 'a.xml', 'a.pdb']],
  ['program', ['a.py', 'a.rs']],
  ['archive', ['a.zip']],
  ['picture', ['a.PNG']],
  ['recording', ['a.mp3']],
  ['unknown', ['a.xyz', 'a']],
])('a %s is known by its extension', (content, names) => {
  for (const name of names) expect(describeContent(name), name).toBe(content);
});

test('a file that no tool is for gets a message with what there is (SV-14, C-26)', () => {
  expect(explainNoReader('data.XYZ')).toMatch(
    /^no tool is known for data\.XYZ, which is a \.xyz file; there are read_file \(txt, /,
  );
  expect(explainNoReader('Makefile')).toContain('has no extension');
});
