import path from 'node:path';
import { docxOf, docxParagraph, pdfOf, pdfText, zipOf } from '@gaia-mesh/tools/files/testing/documents.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { writtenFile } from '../../testing/team-file.ts';

const SENTENCES = [
  'The bridge over the Astel was opened on 3 October 1868.',
  'It was built by the engineers of the railway, and it is 240 metres long.',
  'In the first year the trains of the line carried nine thousand people to the city.',
];
const QUESTION = 'When was the bridge over the Astel opened?';

const html = (sentences: readonly string[]) =>
  `<!doctype html><html><head><title>Bridge</title><script>var secret = 1;</script><style>p { color: red }</style></head><body>
   <h1>The bridge</h1>${sentences.map((text) => `<p>${text}</p>`).join('')}<table><tr><td>metres</td><td>240</td></tr></table></body></html>`;

const epub = () =>
  zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf':
      '<opf:package xmlns:opf="http://www.idpf.org/2007/opf"><opf:manifest><opf:item id="b" href="second%20one.xhtml"/><opf:item id="a" href="first.xhtml"/></opf:manifest><opf:spine><opf:itemref idref="a"/><opf:itemref idref="b"/></opf:spine></opf:package>',
    'OPS/first.xhtml': html(SENTENCES.slice(0, 2)),
    'OPS/second one.xhtml': html(SENTENCES.slice(2)),
  });

async function ask(name: string, content: string | Uint8Array, ...more: readonly string[]) {
  const cwd = temporaryFolder();
  writtenFile(cwd, name, content);
  const args = [
    'bench',
    '--team',
    'single',
    '--document',
    name,
    '--question',
    QUESTION,
    '--port-base',
    'auto',
  ];
  return {
    ...(await callCli([...args, '--out', 'out', '--json', ...more], { cwd })),
    file: path.join(cwd, name),
  };
}

describe('a document of the user’s', () => {
  test.each<[string, string, () => string | Uint8Array | Promise<Uint8Array>]>([
    ['scanned.txt', 'PDF, 211 characters, 1 page', () => pdfOf([pdfText(SENTENCES)])],
    [
      'bridge.docx',
      'Word, 213 characters',
      () => docxOf(SENTENCES.map((text) => docxParagraph(text)).join('')),
    ],
    ['bridge.html', 'HTML, 237 characters', () => html(SENTENCES)],
    ['bridge.epub', 'EPUB, 261 characters', epub],
  ])('%s is read as what it is, and stderr says so', async (name, facts, content) => {
    const { code, stdout, stderr } = await ask(name, await content());
    expect(code, stderr).toBe(0);
    expect(stderr.split('\n')[0]).toBe(`document ${name}: ${facts}`);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'answered', answer: '3 October 1868' });
  });

  test('is named with the page of the answer and the passage that it was taken from', async () => {
    const cwd = temporaryFolder();
    const [first = '', ...others] = SENTENCES;
    writtenFile(cwd, 'two.pdf', pdfOf([pdfText(others), '', pdfText([first])]));
    const args = ['bench', '--document', 'two.pdf', '--question', QUESTION, '--port-base', 'auto'];
    const { stdout } = await callCli(args, { cwd });
    expect(stdout).toMatch(/Answer +3 October 1868\nSource +page 3: The bridge over the Astel was opened/);
  });

  test('with pages that have no text is read as far as it goes, and says which', async () => {
    const { code, stderr } = await ask('half.pdf', pdfOf([pdfText(SENTENCES), '']));
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^document half\.pdf: PDF, 211 characters, 2 pages\nno text on 1 of these pages \(2\)/,
    );
  });

  test('in another language is announced as such before the embedded engine answers', async () => {
    const german =
      'Die Brücke wurde am 3. Oktober 1868 eröffnet. Sie ist 240 Meter lang und wurde von den Ingenieuren der Eisenbahn in zwei Jahren gebaut.';
    const { stderr } = await ask('brücke.txt', german);
    expect(stderr).toMatch(
      /the embedded engine knows English only, and this document is in another language: /,
    );
  });

  test.each([
    [
      'scan.pdf',
      () => pdfOf(['', '']),
      'none of its 2 pages has text: a scan needs text recognition (OCR) first',
    ],
    ['broken.pdf', () => '%PDF-1.4 and nothing else', 'cannot be read as a PDF document'],
    ['broken.epub', () => zipOf({ 'a.txt': 'a' }), 'there is no META-INF/container.xml in it'],
    ['nothing.html', () => '<html><body> </body></html>', 'it is empty'],
  ])('%s is refused with the reason, before anything starts', async (name, content, reason) => {
    const { code, stderr, stdout, file } = await ask(name, await content());
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`gaia-mesh: document ${file}: `);
    expect(stderr).toContain(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
