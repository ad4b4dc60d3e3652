import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';

/** Maximum pages read; a reply is cut long before. */
const MAX_PAGES = 2000;
/** Maximum text, as much as a whole book holds; only hostile files have more. */
const MAX_TEXT_CHARACTERS = 4_000_000;

/** A run of letters: the x positions of its beginning and end, and its height on the page, in points. */
interface Piece {
  readonly text: string;
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly size: number;
  readonly endsLine: boolean;
}

/**
 * Returns the text of a PDF document, page by page.
 *
 * @throws MeshError `tool` for other files, and for one that needs a password or lacks the requested pages
 */
export async function reportPdf(file: LoadedFile, pages?: string): Promise<string> {
  const { getDocumentProxy } = await import('unpdf');
  const { length } = file.bytes;
  // Fonts are for drawing and warnings for a console: the reader needs neither.
  const pdf = await fromLibrary(file, 'a PDF document', () =>
    getDocumentProxy(file.bytes, {
      useSystemFonts: false,
      disableFontFace: true,
      verbosity: 0,
    }),
  );
  const numbers = pages === undefined ? listRange(1, pdf.numPages) : parsePages(file, pages, pdf.numPages);
  const parts = [`${quoteFileName(file.name)}: PDF document, ${length} bytes, ${pdf.numPages} pages`];
  const empty: number[] = [];
  let characters = 0;
  for (const number of numbers.slice(0, MAX_PAGES)) {
    const text = await fromLibrary(file, `a PDF document at page ${number}`, async () => {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      page.cleanup();
      return joinPieces(
        items
          .filter((item) => 'str' in item)
          .map(({ str, transform, width, height, hasEOL }) => toPiece(str, transform, width, height, hasEOL)),
      );
    });
    if (text === '') empty.push(number);
    parts.push(`--- page ${number} ---\n${text}`);
    characters += text.length;
    if (characters > MAX_TEXT_CHARACTERS) break;
  }
  const left = numbers.length - (parts.length - 1);
  if (left > 0) parts.push(`[cut: ${left} more pages; ask for them with \`pages\`]`);
  if (empty.length > 0)
    parts.push(
      `[no text on ${empty.length} of these pages (${empty.slice(0, 20).join(', ')}): they are empty, or pictures]`,
    );
  return parts.join('\n\n');
}

function parsePages(file: LoadedFile, pages: string, count: number): number[] {
  const numbers = new Set<number>();
  for (const part of pages.split(',')) {
    const [first = 0, last = first] = part.split('-').map(Number);
    if (first < 1 || last < first || last > count) {
      throw new MeshError(
        'tool',
        `${quoteFileName(file.name)} has pages 1 to ${count}, but not ${part.trim()}`,
      );
    }
    for (const number of listRange(first, last)) numbers.add(number);
  }
  return [...numbers];
}

const listRange = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

function toPiece(
  text: string,
  transform: readonly unknown[],
  width: number,
  height: number,
  endsLine: boolean,
): Piece {
  const at = (i: number) => Number(transform[i]) || 0;
  return { text, x: at(4), end: at(4) + width, y: at(5), size: height || Math.hypot(at(2), at(3)), endsLine };
}

/** Joins the pieces in the order in which the document has them; gaps keep the columns of tables apart. */
function joinPieces(pieces: readonly Piece[]): string {
  let text = '';
  let last: Piece | undefined;
  let isSpaced = false;
  for (const piece of pieces) {
    // The library turns every gap into a space, however wide.
    const isBlank = piece.text.trim() === '';
    if (isBlank && piece.text !== '') isSpaced = true;
    if (!isBlank && last !== undefined && !last.endsLine) text += chooseSeparator(last, piece, isSpaced);
    if (!isBlank) text += piece.text;
    if (piece.endsLine) text += '\n';
    if (isBlank && !piece.endsLine) continue;
    last = piece;
    isSpaced = false;
  }
  return text
    .toWellFormed()
    .replace(/[^\S\n]+$/gm, '')
    .trim();
}

function chooseSeparator(last: Piece, piece: Piece, isSpaced: boolean): string {
  const size = Math.max(piece.size, last.size, 1);
  if (Math.abs(piece.y - last.y) > size / 2) return '\n';
  const gap = piece.x - last.end;
  if (gap > size * 2) return '   ';
  return isSpaced || gap > size * 0.2 ? ' ' : '';
}
