import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DomNode, FormatCallback } from 'html-to-text';
import { openZip, type ZipMember } from '../archives/zip-archive.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { renderMarkdownTable } from '../tables/markdown-table.ts';
import { decodeText } from '../text-encoding.ts';
import { decodeFileText } from '../text-report.ts';

/** Maximum depth of nesting; documents for people stay below it. */
const MAX_DEPTH = 500;
/** Maximum text, as much as a bookshelf holds; only hostile files have more. */
const MAX_TEXT_CHARACTERS = 16_000_000;

/**
 * Returns the text of a page, without tags, scripts, addresses of links and pictures.
 *
 * @throws MeshError `tool` for a file that is not text
 */
export async function reportHtml(file: LoadedFile): Promise<string> {
  const { text: html } = decodeFileText(file);
  const text = await fromLibrary(file, 'an HTML page', () => extractHtmlText(html));
  return `${quoteFileName(file.name)}: HTML page, ${file.bytes.length} bytes\n\n${text}`;
}

/**
 * Returns the text of a book, chapter by chapter in the order of its package (EPUB 3.3, 5.7).
 *
 * @throws MeshError `tool` for other files, and for a book without chapters
 */
export async function reportEpub(file: LoadedFile): Promise<string> {
  const { length } = file.bytes;
  const members = openZip(file);
  return fromLibrary(file, 'an EPUB book', async () => {
    const { XMLParser } = await import('fast-xml-parser');
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', removeNSPrefix: true });
    const container: unknown = parser.parse(readMemberText(members, 'META-INF/container.xml'));
    const [rootFile] = findElements(container, 'container', 'rootfiles', 'rootfile');
    const packageFile = readAttribute(rootFile, 'full-path');
    const book: unknown = parser.parse(readMemberText(members, packageFile));
    const files = new Map(
      findElements(book, 'package', 'manifest', 'item').map((item) => [
        readAttribute(item, 'id'),
        readAttribute(item, 'href'),
      ]),
    );
    const chapters: string[] = [];
    let characters = 0;
    for (const reference of findElements(book, 'package', 'spine', 'itemref')) {
      const href = files.get(readAttribute(reference, 'idref'));
      if (href === undefined) continue;
      const chapter = path.posix.join(path.posix.dirname(packageFile), decodeURIComponent(href));
      const text = await extractHtmlText(readMemberText(members, chapter));
      if (text !== '') chapters.push(text);
      characters += text.length;
      if (characters > MAX_TEXT_CHARACTERS) throw new Error(`more than ${MAX_TEXT_CHARACTERS} characters`);
    }
    return `${quoteFileName(file.name)}: EPUB book, ${length} bytes, ${chapters.length} chapters\n\n${chapters.join('\n\n')}`;
  });
}

async function extractHtmlText(html: string): Promise<string> {
  const { convert } = await import('html-to-text');
  const heading = { options: { uppercase: false } };
  const text = convert(html, {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH, maxInputLength: MAX_TEXT_CHARACTERS },
    selectors: [
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, ...heading })),
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
      { selector: 'table', format: 'markdownTable' },
    ],
    formatters: { markdownTable: formatMarkdownTable },
  });
  return text.toWellFormed().trim();
}

function readMemberText(members: readonly ZipMember[], name: string): string {
  const member = members.find((one) => one.name === name);
  if (member === undefined) throw new Error(`there is no ${quoteFileName(name)} in it`);
  const decoded = decodeText(member.read());
  if (decoded === undefined) throw new MeshError('tool', `${quoteFileName(name)} in it is not text`);
  return decoded.text;
}

/** Returns the elements at a path of names: none, one or several, as the parser gives them. */
function findElements(value: unknown, ...names: readonly string[]): unknown[] {
  const found = names.reduce<unknown>(
    (inside, name) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, name) : undefined),
    value,
  );
  if (found === undefined) return [];
  return Array.isArray(found) ? found : [found];
}

function readAttribute(element: unknown, attribute: string): string {
  const value: unknown =
    typeof element === 'object' && element !== null ? Reflect.get(element, attribute) : undefined;
  if (typeof value !== 'string') throw new Error(`an element without ${attribute}`);
  return value;
}

const MAX_CELL_CHARACTERS = 2000;
/** Maximum columns and rows that a cell may span. */
const MAX_SPAN = 200;

interface TableCell {
  readonly colspan: number;
  readonly rowspan: number;
  readonly text: string;
}

/**
 * Writes a table in Markdown, as all readers here do: cells that span several columns or rows stand in the first of
 * them. A table of one column or one row serves layout, and its cells follow each other.
 */
const formatMarkdownTable: FormatCallback = (element, walk, builder) => {
  builder.openTable();
  for (const row of listTableRows(element)) {
    builder.openTableRow();
    for (const cell of row.children ?? []) {
      if (cell.name !== 'td' && cell.name !== 'th') continue;
      builder.openTableCell();
      walk(cell.children ?? [], builder);
      builder.closeTableCell({ colspan: parseSpan(cell, 'colspan'), rowspan: parseSpan(cell, 'rowspan') });
    }
    builder.closeTableRow();
  }
  builder.closeTable({ tableToString: formatTable, leadingLineBreaks: 2, trailingLineBreaks: 2 });
};

function listTableRows(element: DomNode): DomNode[] {
  return (element.children ?? []).flatMap((child) => {
    if (child.name === 'tr') return [child];
    return ['thead', 'tbody', 'tfoot'].includes(child.name ?? '') ? listTableRows(child) : [];
  });
}

function parseSpan({ attribs }: DomNode, name: string): number {
  const span = Number(attribs?.[name] ?? 1);
  return Number.isInteger(span) && span > 0 ? Math.min(span, MAX_SPAN) : 1;
}

function formatTable(rows: readonly (readonly TableCell[])[]): string {
  const grid: (string | undefined)[][] = rows.map(() => []);
  for (const [at, cells] of rows.entries()) {
    let column = 0;
    for (const { colspan, rowspan, text } of cells) {
      while (grid[at]?.[column] !== undefined) column++;
      for (let down = 0; down < rowspan; down++)
        for (let across = 0; across < colspan; across++) {
          const row = grid[at + down];
          if (row !== undefined) row[column + across] = down + across === 0 ? text.trim() : '';
        }
      column += colspan;
    }
  }
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const lines = grid.map((row) => Array.from({ length: width }, (_, i) => row[i] ?? ''));
  const kept = lines.filter((line) => line.some((text) => text !== ''));
  if (width < 2 || kept.length < 2)
    return kept
      .flat()
      .filter((text) => text !== '')
      .join('\n');
  return renderMarkdownTable(kept, MAX_CELL_CHARACTERS).join('\n');
}
