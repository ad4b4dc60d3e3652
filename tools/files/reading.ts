import { MeshError } from '../../core/contracts/errors.ts';
import type { DataToolReply } from '../data-tool.ts';
import { shown } from './find-file.ts';
import type { LoadedFile } from './load-file.ts';
import { type ReaderName, readerFor } from './readers.ts';
import type { QueryAsked } from './tables/table-query.ts';

/** What is to be done with a file. A plain value: it is told to a thread. */
export type Reading =
  | { readonly kind: 'text' }
  | { readonly kind: 'spreadsheet'; readonly sheet?: string; readonly maxRows?: number }
  /** All sheets as JSON, for programs. */
  | { readonly kind: 'cells' }
  | ({ readonly kind: 'query' } & QueryAsked)
  | { readonly kind: 'pdf'; readonly pages?: string }
  | { readonly kind: 'docx' }
  | { readonly kind: 'pptx' }
  | { readonly kind: 'html' }
  | { readonly kind: 'epub' }
  | { readonly kind: 'zip'; readonly entry?: string };

/**
 * The one place that knows which module does a reading. Each loads its library when it is needed.
 *
 * @throws MeshError `tool` for a file that cannot be read so
 */
export async function perform(reading: Reading, file: LoadedFile): Promise<DataToolReply> {
  switch (reading.kind) {
    case 'text':
      return { text: (await import('./read-file.ts')).textReport(file) };
    case 'spreadsheet':
      return (await import('./tables/spreadsheet-report.ts')).spreadsheetReport(file, reading);
    case 'cells':
      return { text: await (await import('./tables/sheet-cells.ts')).sheetCells(file) };
    case 'query':
      return (await import('./tables/table-query.ts')).answerQuery(file, reading);
    case 'pdf':
      return { text: await (await import('./documents/pdf-report.ts')).pdfReport(file, reading.pages) };
    case 'docx':
      return { text: await (await import('./documents/docx-report.ts')).docxReport(file) };
    case 'pptx':
      return { text: await (await import('./documents/pptx-report.ts')).pptxReport(file) };
    case 'html':
      return { text: await (await import('./documents/html-report.ts')).htmlReport(file) };
    case 'epub':
      return { text: await (await import('./documents/html-report.ts')).epubReport(file) };
    case 'zip': {
      const { zipListing, zipMember } = await import('./archives/zip-report.ts');
      return reading.entry === undefined ? zipListing(file) : readMember(zipMember(file, reading.entry));
    }
  }
}

/** What a reply of a reader says of the file's content, without the line about the file that each begins with. */
export function contentOf(reply: string): string {
  return /^[^\n]*\n\n([\s\S]*)$/.exec(reply)?.[1] ?? reply;
}

/**
 * How a file is read by default, by its name; one that the table of readers does not know may be a text.
 *
 * @throws MeshError `tool` for pictures and recordings, whose tools are no readers of documents
 */
export function readingFor(fileName: string): Reading {
  const reader = readerFor(fileName) ?? 'read_file';
  const kind = KINDS[reader];
  if (kind !== undefined) return { kind };
  throw new MeshError('tool', `${shown(fileName)} holds no text: ${reader} is for such files`);
}

/** Undefined for readers of what holds no text. */
const KINDS: Readonly<Record<ReaderName, Exclude<Reading['kind'], 'query' | 'cells'> | undefined>> = {
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
  const reading = readingFor(member.name);
  if (reading.kind === 'zip') {
    throw new MeshError('tool', `${shown(member.name)} is an archive in an archive: such are not opened`);
  }
  return perform(reading, member);
}
