import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { checkZip } from '../archives/zip-archive.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { findReader, type ReaderName } from './readers.ts';

/** A reading of a file. A plain value, so that it can be sent to a thread. */
export type Reading =
  | { readonly kind: 'text' }
  | {
      readonly kind: 'spreadsheet';
      readonly sheet?: string | undefined;
      readonly maxRows?: number | undefined;
    }
  /** All sheets as JSON, for programs. */
  | { readonly kind: 'cells' }
  | { readonly kind: 'pdf'; readonly pages?: string | undefined }
  | { readonly kind: 'docx' }
  | { readonly kind: 'pptx' }
  | { readonly kind: 'html' }
  | { readonly kind: 'epub' }
  | { readonly kind: 'zip'; readonly entry?: string | undefined }
  /** The rows of a table of questions as JSON. */
  | { readonly kind: 'rows' };

/**
 * Reads a file. Only this function knows the module of each reading; each loads its library when it is needed.
 *
 * @throws MeshError `tool` for a file that cannot be read in this way
 */
export async function perform(reading: Reading, file: LoadedFile): Promise<DataToolReply> {
  switch (reading.kind) {
    case 'text':
      return { text: (await import('../text-report.ts')).reportText(file) };
    case 'spreadsheet':
      return (await import('../tables/spreadsheet-report.ts')).reportSpreadsheet(
        file,
        reading.sheet,
        reading.maxRows,
      );
    case 'cells':
      return { text: await (await import('../tables/spreadsheet-report.ts')).exportSheetCells(file) };
    case 'pdf':
      return { text: await (await import('../documents/pdf-report.ts')).reportPdf(file, reading.pages) };
    case 'docx':
      return { text: await reportDocx(file) };
    case 'pptx':
      return { text: await (await import('../documents/pptx-report.ts')).reportPptx(file) };
    case 'html':
      return { text: await (await import('../documents/html-report.ts')).reportHtml(file) };
    case 'epub':
      return { text: await (await import('../documents/html-report.ts')).reportEpub(file) };
    case 'rows':
      return { text: await (await import('../tables/question-rows.ts')).exportRows(file) };
    case 'zip':
      return (await import('../archives/zip-report.ts')).reportZip(file, reading.entry, readMember);
  }
}

/** Returns a reader's reply without its first line, which describes the file. */
export function stripFileLine(reply: string): string {
  return /^[^\n]*\n\n([\s\S]*)$/.exec(reply)?.[1] ?? reply;
}

/**
 * Chooses the reading of a file by its name; unknown extensions are read as text.
 *
 * @throws MeshError `tool` for pictures and recordings, whose tools are no readers of documents
 */
export function chooseReading(fileName: string): Reading {
  if (isWebPage(fileName)) return { kind: 'html' };
  const reader = findReader(fileName) ?? 'read_file';
  const kind = KINDS[reader];
  if (kind !== undefined) return { kind };
  throw new MeshError('tool', `${quoteFileName(fileName)} holds no text: use ${reader}`);
}

export const isWebPage = (fileName: string) => /\.(?:html?|xhtml)$/i.test(fileName);

/** Readings by tool; undefined for tools whose files hold no text. */
const KINDS: Readonly<Record<ReaderName, Exclude<Reading['kind'], 'cells' | 'rows'> | undefined>> = {
  read_file: 'text',
  read_excel: 'spreadsheet',
  read_pdf: 'pdf',
  read_docx: 'docx',
  read_pptx: 'pptx',
  read_zip: 'zip',
  analyze_image: undefined,
  understand_audio: undefined,
};

function readMember(member: LoadedFile): Promise<DataToolReply> {
  const reading = chooseReading(member.name);
  if (reading.kind === 'zip') {
    throw new MeshError(
      'tool',
      `${quoteFileName(member.name)} is an archive in an archive, which is not opened`,
    );
  }
  return perform(reading, member);
}

/**
 * Returns the text of a Word document, with its tables.
 *
 * @throws MeshError `tool` for other files
 */
async function reportDocx(file: LoadedFile): Promise<string> {
  checkZip(file);
  const { default: mammoth } = await import('mammoth');
  const { value: html } = await fromLibrary(file, 'a Word document', () =>
    mammoth.convertToHtml(
      { buffer: Buffer.from(file.bytes) },
      // Pictures would become millions of characters of text. Only HTML keeps tables.
      {
        convertImage: mammoth.images.imgElement(async () => ({ src: 'picture' })),
        externalFileAccess: false,
      },
    ),
  );
  const text = await convertMarkdown(file, html);
  return `${quoteFileName(file.name)}: Word document, ${file.bytes.length} bytes\n\n${text.toWellFormed().trim()}`;
}

async function convertMarkdown(file: LoadedFile, html: string): Promise<string> {
  const { NodeHtmlMarkdown } = await import('node-html-markdown');
  try {
    return NodeHtmlMarkdown.translate(html);
  } catch (error) {
    // Tables nested deeper than the stack: their text can still be read.
    if (!(error instanceof RangeError)) throw error;
    const { convert } = await import('html-to-text');
    return fromLibrary(file, 'a Word document', () =>
      convert(html, { wordwrap: false, limits: { maxDepth: 500 } }),
    );
  }
}
