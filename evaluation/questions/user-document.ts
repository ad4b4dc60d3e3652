import { closeSync, readSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { detectFileKind } from '@gaia-mesh/tools/files/file-kind.ts';
import { loadFile } from '@gaia-mesh/tools/files/loaded-file.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import { readExtension } from '@gaia-mesh/tools/files/reading/readers.ts';
import { type Reading, stripFileLine } from '@gaia-mesh/tools/files/reading/reading.ts';
import { readDocument } from './read-questions.ts';

const ENGLISH = new Set(
  'the of and to in is was that it for with as by from at this are be on not'.split(' '),
);
/** Words of other languages in Latin letters that every text has, and that are no words of English. */
const FOREIGN = new Set(
  (
    'der das und ist nicht ein eine mit von zu auf für im dem des sich wurde auch le la les et est une un dans pour que qui sur du au ' +
    'de en il avec el los las y es una del se lo su al como más di è della sono gli nel os é um uma da em para com não het een van dat ' +
    'niet op voor zijn te aan werd ook och att det som är av inte till ett w się z jest że nie jak przez był oraz za są'
  ).split(' '),
);

const SAMPLE_CHARACTERS = 20_000;
/** Minimum words for a guess. */
const MIN_WORDS = 20;
const MIN_LETTERS = 20;
/** Minimum share of common words. In prose they are a quarter to a half of all words; in lists and tables, few. */
const MIN_SHARE = 0.08;
/** Minimum lead over English words, since a text may quote another language. */
const MIN_LEAD = 1.2;

/** Tells if a text is in another language than English; false where that cannot be told. */
function isForeign(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < MIN_LETTERS) return false;
  if ((sample.match(/\p{Script=Latin}/gu)?.length ?? 0) < letters / 2) return true;
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < MIN_WORDS) return false;
  const share = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length / words.length;
  return share(FOREIGN) >= Math.max(MIN_SHARE, MIN_LEAD * share(ENGLISH));
}

interface UserDocument {
  readonly text: string;
  /** Offset of each page in the text, in UTF-16 units; only for a document with pages. */
  readonly pageStarts?: readonly number[] | undefined;
  /** A line about the document, and notes about parts that could not be read. */
  readonly notes: readonly string[];
  /** True if the text is in another language than English. */
  readonly isForeign: boolean;
}

type DocumentKind = Extract<Reading['kind'], 'pdf' | 'docx' | 'pptx' | 'html' | 'epub' | 'spreadsheet'>;

const KINDS: ReadonlyMap<string, DocumentKind> = new Map([
  ['pdf', 'pdf'],
  ['docx', 'docx'],
  ['pptx', 'pptx'],
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['epub', 'epub'],
  ...['csv', 'tsv', 'xlsx', 'xlsm', 'xls', 'ods'].map((extension) => [extension, 'spreadsheet'] as const),
]);

/** Maximum rows of each sheet; the engine's parser of tables takes as many. */
const MAX_TABLE_ROWS = 1000;

const NAMES = {
  pdf: 'PDF',
  docx: 'Word',
  pptx: 'PowerPoint',
  html: 'HTML',
  epub: 'EPUB',
  spreadsheet: 'spreadsheet',
} as const;

/**
 * Reads a document that the user asks about: with the reader for its extension (a PDF is recognized by its first bytes), or else
 * as text.
 *
 * @throws MeshError `config`, naming the file, if it cannot be read or has no text
 */
export async function readUserDocument(file: string): Promise<UserDocument> {
  const kind = isPdf(file) ? 'pdf' : KINDS.get(readExtension(file));
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
  const facts = [
    kind === undefined ? 'text' : NAMES[kind],
    `${[...text].length.toLocaleString('en')} characters`,
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
  ];
  return {
    text,
    pageStarts,
    notes: [`document ${path.basename(file)}: ${facts.join(', ')}`, ...notes],
    isForeign: isForeign(text),
  };
}

function isPdf(file: string): boolean {
  const start = new Uint8Array(16);
  const descriptor = openUserFile(file, { what: 'document' });
  try {
    readSync(descriptor, start);
    return detectFileKind(start)?.kind === 'pdf';
  } finally {
    closeSync(descriptor);
  }
}

/** Removes images and the targets of links, which are not text of the document. */
function stripLinkTargets(markdown: string): string {
  return markdown.replaceAll(/!\[[^\]]*\]\([^)\s]*\)/g, '').replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1');
}

interface Content {
  readonly text: string;
  readonly notes: string[];
  readonly pages?: number;
  readonly pageStarts?: readonly number[] | undefined;
}

async function loadDocumentContent(kind: DocumentKind, file: string): Promise<Content> {
  try {
    const loaded = await loadFile(file, path.basename(file));
    const reading = kind === 'spreadsheet' ? { kind, maxRows: MAX_TABLE_ROWS } : { kind };
    const { text } = await readConfined(loaded, reading, new AbortController().signal);
    const content = stripFileLine(text);
    // A note about the rows is no sentence of the document.
    if (kind === 'spreadsheet')
      return { text: content.replaceAll(/^The header is row \d+\.\n/gm, ''), notes: [] };
    if (kind !== 'pdf') return { text: stripLinkTargets(content), notes: [] };
    return { ...stripPageNotes(content), pages: Number(/, (\d+) pages$/m.exec(text)?.[1]) };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError('config', `document ${file}: ${error.message}`, { cause: error });
  }
}

/** Removes the reader's notes about pages from the text of a PDF. */
function stripPageNotes(content: string): Pick<Content, 'text' | 'notes' | 'pageStarts'> {
  const notes = [...content.matchAll(/^\[((?:cut|no text on)[^\n]*)\]$/gm)].map(([, note]) => note ?? '');
  const marked = content.replace(/\n*^\[(?:cut|no text on)[^\n]*\]$/gm, '').trim();
  // Text before the first mark belongs to the first page; pages without text have no mark.
  const [first = '', ...rest] = marked.split(/^--- page (\d+) ---$\n?/m);
  const pageStarts: number[] = [];
  let text = first;
  for (let at = 0; at < rest.length; at += 2) {
    for (let page = pageStarts.length + 1; page <= Number(rest[at]); page++) pageStarts.push(text.length);
    text += rest[at + 1] ?? '';
  }
  return { text: text.trimEnd(), notes, pageStarts };
}
