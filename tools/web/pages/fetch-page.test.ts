import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { WebAnswer } from '../../fixtures/web-answer.ts';
import { serveWeb } from '../testing/serve-web.ts';
import { fetchPage } from './fetch-page.ts';
import { extractText } from './page-text.ts';

async function serve(answer?: WebAnswer) {
  const { pages, place } = await serveWeb(answer === undefined ? {} : { pages: [answer] });
  return { url: `${pages}/lighthouse`, place };
}

async function fetched(body: string | Uint8Array, type?: string): Promise<string> {
  const { url, place } = await serve({ headers: type === undefined ? {} : { 'content-type': type }, body });
  const { text } = await fetchPage.run({ url }, place);
  expect(text).toMatch(`${url}\n\n`);
  return text.slice(`${url}\n\n`.length);
}

const page = (body: string) =>
  `<!DOCTYPE html><html><head><title>T</title></head><body>${body}</body></html>`;

describe('a page', () => {
  test('is given as Markdown, with its table and links, without what is around it', async () => {
    const { url, place } = await serve();
    const { text } = await fetchPage.run({ url }, place);
    expect(text).toContain(`${url}\n\n# Vellmar lighthouse`);
    expect(text).toContain('It is **41 metres** tall');
    expect(text).toContain('[the table](/data.csv)');
    expect(text).toMatch(/\| Year \| Visitors \|\n\| -+ \| -+ \|\n\| 2001 \| 350 +\|/);
    expect(text).not.toMatch(/var x|Harbour office/);
  });

  test('that is no article is given whole', async () => {
    const text = await fetched(
      page('<ul><li>one</li><li>two</li></ul><table><tr><td>3</td></tr></table>'),
      'text/html',
    );
    expect(text).toContain('* one');
    expect(text).toContain('3');
  });

  test('without text is said to be', async () => {
    expect(await fetched(page('<script>render()</script>'), 'text/html')).toContain('T');
    expect(await fetched('', 'text/html')).toBe('(the page has no text; it may need a browser)');
  });

  test('that is long is cut, and says so', async () => {
    const text = await fetched(
      page(`<article>${'<p>Water under the bridge, said the miller.</p>'.repeat(5000)}</article>`),
      'text/html',
    );
    expect(text.length).toBeLessThan(60_100);
    expect(text).toMatch(/\n\[cut: \d+ or more characters\]$/);
  });

  test('of many elements keeps their order', async () => {
    const paragraphs = Array.from({ length: 900 }, (_, i) => `<p>Line <b>${i}</b>, of some length.</p>`).join(
      '',
    );
    // The page may take any time here, since the time limit is for pages that no parser can read.
    const { signal } = new AbortController();
    const text = await extractText(page(`<div>${paragraphs}</div>`), 60_000, signal, 100_000);
    const numbers = [...text.matchAll(/Line \*\*(\d+)\*\*/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 900 }, (_, i) => i));
  });

  test.each([['deeply nested elements', `${'<div>'.repeat(20_000)}the middle`]])(
    'of %s is read all the same',
    async (_name, body) => {
      expect(await fetched(page(body), 'text/html')).toBe('T the middle');
    },
  );

  test.each([
    ['nested elements', '<div>'.repeat(200_000)],
    ['scripts without an end', ' <script'.repeat(100_000)],
  ])('that no parser reads in time for its %s gives what is between its tags', async (_name, body) => {
    const { signal } = new AbortController();
    expect(await extractText(page(`<p>first${body}`), 60_000, signal, 50)).toMatch(/^T first/);
  });

  test('larger than 5 MB is not read', async () => {
    await expect(fetched(Buffer.alloc(6 * 1024 * 1024, 'x'), 'text/html')).rejects.toThrow(
      /is larger than 5\.2 MB/,
    );
  });
});

describe('the encoding of a page is', () => {
  const word = 'Größe';
  const latin = Buffer.from(word, 'latin1');
  test.each([
    ['that of the header', latin, 'text/plain; charset=ISO-8859-1'],
    ['that of its byte order mark', Buffer.from(`\ufeff${word}`, 'utf16le'), 'text/plain; charset=utf-8'],
    ['UTF-8 where nothing is said', Buffer.from(word), 'text/plain'],
    ['windows-1252 where it is not even UTF-8', latin, 'text/plain'],
    ['guessed where its name is unknown', Buffer.from(word), 'text/plain; charset=martian'],
  ])('%s', async (_name, body, type) => {
    expect(await fetched(body, type)).toBe(word);
  });

  test('what the page says of itself', async () => {
    const html = `<html><head><meta charset="iso-8859-2"><title>x</title></head><body><p>\xb1</p></body></html>`;
    expect(await fetched(Buffer.from(html, 'latin1'), 'text/html')).toContain('ą');
  });
});

describe('what is no page', () => {
  test.each([
    'text/plain',
    'application/json',
    'application/ld+json',
    'text/csv',
    'application/xml',
    undefined,
  ])('but text (%s) is given as it is', async (type) => {
    expect(await fetched('a < b\n', type)).toBe('a < b');
  });

  test('but looks like one is read as one', async () => {
    expect(await fetched(page('<p>hello</p>'))).not.toContain('<p>');
  });

  test('but a PDF is given page by page', async () => {
    expect(await fetched(smallPdf('Lamp oil'), 'application/pdf')).toBe('--- page 1 ---\nLamp oil');
    expect(await fetched(smallPdf('Lamp oil'), 'application/octet-stream')).toBe('--- page 1 ---\nLamp oil');
  });

  test('but says it is a PDF is refused with the reason', async () => {
    await expect(fetched('%PDF-1.4 broken', 'application/pdf')).rejects.toThrow(
      /cannot be read as a PDF document: Invalid PDF.*; download_file saves it as it is$/,
    );
  });

  test.each(['image/png', 'audio/mpeg', 'application/zip'])('is for download_file: %s', async (type) => {
    await expect(fetched('x', type)).rejects.toThrow(`is ${type}, not a page: download_file saves it`);
  });

  test('nor says what it is, nor is text, is for download_file, too', async () => {
    await expect(fetched(Buffer.from([1, 0, 2]))).rejects.toThrow(
      'is not text, not a page: download_file saves it',
    );
  });
});

test('works in a process under the permission model that may start others', async () => {
  const { url, place } = await serve();
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const module = JSON.stringify(new URL('./fetch-page.ts', import.meta.url).href);
  const code = `const { fetchPage } = await import(${module});
    const { text } = await fetchPage.run({ url: ${JSON.stringify(url)} }, { environment: process.env, signal: new AbortController().signal });
    console.log(text);`;
  const reads = ['core', 'tools', 'node_modules', 'package.json'].map(
    (name) => `--allow-fs-read=${root}${name}`,
  );
  const child = spawn(
    process.execPath,
    ['--permission', '--allow-child-process', ...reads, '--input-type=module', '-e', code],
    { env: place.environment, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'close');
  expect(said).toContain('It is **41 metres** tall');
});

/** Returns a PDF of one page with one line. */
function smallPdf(line: string): Buffer {
  const stream = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const offset = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = text.length;
  text += `xref\n0 6\n0000000000 65535 f \n${rows}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
