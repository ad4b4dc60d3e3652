import { contentOf } from '../files/reading.ts';

/** A document as the reader takes it. */
export interface DocumentText {
  /** Paragraphs on one line each, as no sentence may be broken by the end of a line. */
  readonly text: string;
  /** The lines as they came. */
  readonly lines: readonly string[];
  /** Pages or slides; one where the document has no such parts. */
  readonly parts: readonly DocumentPart[];
}

export interface DocumentPart {
  readonly title: string;
  readonly text: string;
}

const PAGE = /^--- page \d+ ---$/;
const SLIDE = /^## Slide \d+(?:: (.*))?$/;

/** @param reply what a reader of files says: a line about the file, an empty one, the text */
export function documentText(reply: string): DocumentText {
  const plain = contentOf(reply)
    .replace(/\r\n?/g, '\n')
    .replace(/\\(?=[.!#()[\]*_+-])/g, '');
  const parts = partsOf(plain);
  const lines = plain.split('\n').filter((line) => !PAGE.test(line));
  return {
    text: parts
      .map(({ title, text }) => (title === '' ? text : `${title}\n\n${text}`))
      .map(unwrapped)
      .join('\n\n'),
    lines,
    parts,
  };
}

/** A text that is no reply of a tool. */
export function givenText(text: string): DocumentText {
  return documentText(`\n\n${text}`);
}

function partsOf(text: string): DocumentPart[] {
  const parts: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const slide = SLIDE.exec(line);
    if (slide !== null || PAGE.test(line)) parts.push({ title: slide?.[1] ?? '', lines: [] });
    else if (parts.length === 0) parts.push({ title: '', lines: [line] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts
    .map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }))
    .filter(({ title, text: own }) => title !== '' || own !== '');
}

/** Lines of a page are cut at its width; a line that could have held the next word ends a paragraph. */
function unwrapped(text: string): string {
  const lines = text.split('\n');
  const width = Math.max(0, ...lines.map((line) => line.length));
  // Notes and verses have short lines that mean something.
  if (width < 50) return text.replace(/\n+/g, '\n\n');
  let joined = '';
  for (const [index, line] of lines.entries()) {
    joined += line;
    const next = lines[index + 1];
    if (next === undefined) break;
    const nextWord = /^\S+/.exec(next)?.[0].length ?? 0;
    const isFull = line.length + 1 + nextWord > Math.min(width, 120) * 0.92 && line.length < 200;
    const isText =
      /^[\p{L}\p{N}("“'‘]/u.test(next) && !/^(?:\d+\.|[-*•])\s/.test(next) && !/^[#|]/.test(line);
    joined += isFull && isText ? ' ' : '\n\n';
  }
  return joined.replace(/\n{3,}/g, '\n\n');
}
