import { closeSync, readSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { detectFileKind } from '@gaia-mesh/tools/files/file-kind.ts';
import { loadFile } from '@gaia-mesh/tools/files/load-file.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import { readExtension } from '@gaia-mesh/tools/files/reading/readers.ts';
import { type Reading, stripFileLine } from '@gaia-mesh/tools/files/reading/reading.ts';
import { readDocument } from './read-questions.ts';

/** Words that occur in every text of one language, and seldom in texts of another. */
const COMMON_WORDS: Readonly<Record<string, string>> = {
  English: 'the of and to in is was that it for with as by from at this are be on not',
  German: 'der die das und ist nicht ein eine mit von zu den auf für im dem des sich wurde auch',
  French: 'le la les des et est une un dans pour que qui sur du au de en il par avec',
  Spanish: 'el la los las y es una un en que por con del para se de al su como más',
  Italian: 'il la che di è una un per con del della non sono gli nel i le da si al',
  Portuguese: 'o a os as e é um uma que do da em para com não de no na por se',
  Dutch: 'de het een en van is dat niet op met voor zijn te in aan werd door ook bij om',
  Swedish: 'och att det som en är på av för den inte med i till ett var de om han från',
  Polish: 'i w na się z do jest że nie to jak o po od przez był oraz za ale są',
};

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['Chinese', /\p{Script=Han}/gu],
  ['Korean', /\p{Script=Hangul}/gu],
  ['Cyrillic', /\p{Script=Cyrillic}/gu],
  ['Greek', /\p{Script=Greek}/gu],
  ['Arabic', /\p{Script=Arabic}/gu],
  ['Hebrew', /\p{Script=Hebrew}/gu],
  ['Devanagari', /\p{Script=Devanagari}/gu],
  ['Thai', /\p{Script=Thai}/gu],
];

const SAMPLE_CHARACTERS = 20_000;
/** Minimum words for a guess. */
const MIN_WORDS = 20;
const MIN_LETTERS = 20;
/** Minimum share of common words. In prose they are a quarter to a half of all words; in lists and tables, few. */
const MIN_SHARE = 0.08;
/** Minimum lead of the best language over the second one, since related languages share many words. */
const MIN_LEAD = 1.2;

/** Detects the language of a text as an adjective, or its script if that says more. Undefined if neither can be told. */
export function detectLanguage(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < MIN_LETTERS) return undefined;
  for (const [name, script] of SCRIPTS) {
    const share = (sample.match(script)?.length ?? 0) / letters;
    // Japanese writes many words in Chinese characters.
    if (share > (name === 'Japanese' ? 0.15 : 0.5)) return name;
  }
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length < MIN_WORDS) return undefined;
  const [best, second] = Object.entries(COMMON_WORDS)
    .map(([language, common]) => {
      const known = new Set(common.split(' '));
      return { language, share: words.filter((word) => known.has(word)).length / words.length };
    })
    .sort((a, b) => b.share - a.share);
  if (best === undefined || best.share < MIN_SHARE) return undefined;
  return best.share >= MIN_LEAD * (second?.share ?? 0) ? best.language : undefined;
}

interface UserDocument {
  readonly text: string;
  /** Offset of each page in the text, in UTF-16 units; only for a document with pages. */
  readonly pageStarts?: readonly number[] | undefined;
  /** A line about the document, and notes about parts that could not be read. */
  readonly notes: readonly string[];
  readonly language: string | undefined;
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
  const language = detectLanguage(text);
  const facts = [
    kind === undefined ? 'text' : NAMES[kind],
    `${[...text].length.toLocaleString('en')} characters`,
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
    ...(language === undefined ? [] : [language]),
  ];
  return {
    text,
    pageStarts,
    notes: [`document ${path.basename(file)}: ${facts.join(', ')}`, ...notes],
    language,
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
