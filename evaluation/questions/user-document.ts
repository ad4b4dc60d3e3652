import { open } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { detectFileKind } from '@gaia-mesh/tools/files/file-kind.ts';
import { loadFile } from '@gaia-mesh/tools/files/load-file.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import { readExtension } from '@gaia-mesh/tools/files/reading/readers.ts';
import { type Reading, stripFileLine } from '@gaia-mesh/tools/files/reading/reading.ts';
import { readDocument } from './read-questions.ts';
import { detectLanguage } from './text-language.ts';

interface UserDocument {
  readonly text: string;
  /** Where each page begins in the text, in UTF-16 units; only of a document with pages. */
  readonly pageStarts?: readonly number[];
  /** What was read, in a line, and what of it could not be. */
  readonly notes: readonly string[];
  readonly language: string | undefined;
}

type DocumentKind = Extract<Reading['kind'], 'pdf' | 'docx' | 'pptx' | 'html' | 'epub'>;

const KINDS: ReadonlyMap<string, DocumentKind> = new Map([
  ['pdf', 'pdf'],
  ['docx', 'docx'],
  ['pptx', 'pptx'],
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['epub', 'epub'],
]);

const NAMES = { pdf: 'PDF', docx: 'Word', pptx: 'PowerPoint', html: 'HTML', epub: 'EPUB' } as const;

/**
 * A document that the user asks about: what our readers read by its extension (and a PDF by its first bytes), all else as text.
 *
 * @throws MeshError `config`, naming the file, for one that cannot be read or has no text
 */
export async function readUserDocument(file: string): Promise<UserDocument> {
  const kind = (await isPdf(file)) ? 'pdf' : KINDS.get(readExtension(file));
  const { text, pages, pageStarts, notes }: Content =
    kind === undefined ? { text: readDocument(file), notes: [] } : await loadDocumentContent(kind, file);
  if (text.trim() === '') {
    const why =
      pages === undefined
        ? 'it is empty'
        : `none of its ${pages} pages has text: a scan needs text recognition (OCR) first`;
    throw new MeshError('config', `document ${file}: ${why}`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_DOCUMENT_BYTES)
    throw new MeshError(
      'config',
      `document ${file}: ${bytes} bytes of text; a document has at most ${MAX_DOCUMENT_BYTES}`,
    );
  const language = detectLanguage(text);
  const facts = [
    kind === undefined ? 'text' : NAMES[kind],
    `${[...text].length.toLocaleString('en')} characters`,
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
    ...(language === undefined ? [] : [language]),
  ];
  return {
    text,
    ...(pageStarts === undefined ? {} : { pageStarts }),
    notes: [`document ${path.basename(file)}: ${facts.join(', ')}`, ...notes],
    language,
  };
}

async function isPdf(file: string): Promise<boolean> {
  try {
    await using handle = await open(file);
    const { buffer } = await handle.read(new Uint8Array(16), 0, 16, 0);
    return detectFileKind(buffer)?.kind === 'pdf';
  } catch {
    // Whoever reads it says what is wrong with it.
    return false;
  }
}

/** Where links lead, and what stands for images, is nothing that a document says. */
function stripLinkTargets(markdown: string): string {
  return markdown.replaceAll(/!\[[^\]]*\]\([^)\s]*\)/g, '').replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1');
}

interface Content {
  readonly text: string;
  readonly notes: string[];
  readonly pages?: number;
  readonly pageStarts?: readonly number[];
}

async function loadDocumentContent(kind: DocumentKind, file: string): Promise<Content> {
  try {
    const loaded = await loadFile(file, path.basename(file));
    const text = await readConfined(loaded, { kind }, new AbortController().signal);
    const content = stripFileLine(text);
    if (kind !== 'pdf') return { text: stripLinkTargets(content), notes: [] };
    return { ...stripPageNotes(content), pages: Number(/, (\d+) pages$/m.exec(text)?.[1]) };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError('config', `document ${file}: ${error.message}`, { cause: error });
  }
}

/** The text of a PDF without what the reader says of its pages, which is no text of it. */
function stripPageNotes(content: string): Pick<Content, 'text' | 'notes' | 'pageStarts'> {
  const notes = [...content.matchAll(/^\[((?:cut|no text on)[^\n]*)\]$/gm)].map(([, note]) => note ?? '');
  const marked = content.replace(/\n*^\[(?:cut|no text on)[^\n]*\]$/gm, '').trim();
  // What stands before the first mark, if anything does, is of the first page; pages without text have no mark.
  const [first = '', ...rest] = marked.split(/^--- page (\d+) ---$\n?/m);
  const pageStarts: number[] = [];
  let text = first;
  for (let at = 0; at < rest.length; at += 2) {
    for (let page = pageStarts.length + 1; page <= Number(rest[at]); page++) pageStarts.push(text.length);
    text += rest[at + 1] ?? '';
  }
  return { text: text.trimEnd(), notes, pageStarts };
}
