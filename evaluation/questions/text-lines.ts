import { closeSync, readSync } from 'node:fs';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_LINE_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { type ByteLine, readByteLines } from '@gaia-mesh/core/system/files/byte-lines.ts';
import { openUserFile, readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { findStringEnd, parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { decodeText } from '@gaia-mesh/tools/files/text-encoding.ts';
import { splitJsonValues } from '../traffic/split-json.ts';

const LINE_END = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a text file. */
export interface TextLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  /** Byte offset in the file; undefined if the file does not hold the line as it is. */
  readonly at: number | undefined;
  readonly bytes: number;
}

/**
 * Reads the lines of a text file, or the values of one that does not have a JSON value in each line of UTF-8: a JSON array, values that
 * span lines, or UTF-16.
 *
 * @throws MeshError `config` for a file that cannot be read or is larger than `maxBytes`, a line that is too long or not UTF-8, and an
 * array that is not JSON
 */
export function readTextLines(file: string, what: string, maxBytes: number): Iterable<TextLine> {
  return readLooseValues(file, what, maxBytes) ?? readPlainLines(file, what, maxBytes);
}

function* readPlainLines(file: string, what: string, maxBytes: number): Generator<TextLine> {
  const tooLong = (number: number) =>
    new MeshError('config', `${file}:${number}: longer than ${MAX_LINE_BYTES} bytes`);
  const descriptor = openUserFile(file, { what, maxBytes });
  try {
    for (const line of readByteLines(descriptor, { maxBytes: MAX_LINE_BYTES, tooLong }))
      yield decodeLine(file, line);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a line again by its position. */
export function rereadLine(
  file: string,
  { at, bytes }: { readonly at: number; readonly bytes: number },
): string {
  const descriptor = openUserFile(file, { what: 'file' });
  try {
    const line = Buffer.alloc(bytes);
    readSync(descriptor, line, 0, bytes, at);
    return line.toString();
  } finally {
    closeSync(descriptor);
  }
}

function decodeLine(file: string, { bytes, number, at }: ByteLine): TextLine {
  const hasMark = at === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const begin = hasMark ? BYTE_ORDER_MARK.length : 0;
  const line = bytes.subarray(begin);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
    return { text, number, at: at + begin, bytes: line.length };
  } catch (error) {
    throw new MeshError('config', `${file}:${number}: not UTF-8 text: save the file as UTF-8`, {
      cause: error,
    });
  }
}

const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Bytes of a file's beginning that tell its form. */
const HEAD_BYTES = 64 * 1024;

/** Returns undefined for a file with a value in each line. */
function readLooseValues(file: string, what: string, maxBytes: number): Iterable<TextLine> | undefined {
  const head = readHead(file, what);
  const isUtf16 = UTF16_MARKS.some((mark) => head.subarray(0, mark.length).equals(mark));
  const decoded = isUtf16 ? undefined : decodeText(head);
  // Anything else is read as lines, whose reader says what is wrong with them.
  if (!isUtf16 && !/^utf-/.test(decoded?.encoding ?? '')) return undefined;
  const begin = decoded?.text.trimStart() ?? '';
  const [first = ''] = begin.split('\n', 1);
  // A first line that is longer than the head is a value by itself.
  const isOpen = first.length < begin.length && !isComplete(first);
  const isLines = decoded?.encoding === 'utf-8' && !begin.startsWith('[') && !isOpen;
  if (isLines) return undefined;
  const bounds = { what, maxBytes: Math.min(maxBytes, MAX_LOOSE_BYTES) };
  const whole = decodeText(readUserFile(file, bounds));
  if (whole === undefined) throw new MeshError('config', `${file}: not UTF-8 or UTF-16 text`);
  return whole.text.trimStart().startsWith('[') ? splitArray(whole.text, file) : toLooseLines(whole.text);
}

/** Maximum bytes of a file that is in memory as a whole. */
const MAX_LOOSE_BYTES = 64 * 1024 * 1024;

/** Reads the beginning of a file, up to the end of a line or of a character. */
function readHead(file: string, what: string): Buffer {
  const descriptor = openUserFile(file, { what });
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    const read = bytes.subarray(0, readSync(descriptor, bytes, 0, HEAD_BYTES, 0));
    if (read.length < HEAD_BYTES) return read;
    let end = read.lastIndexOf(LINE_END) + 1 || read.length;
    // The last character may be cut.
    while ((read[end - 1] ?? 0) >= 0x80) end -= 1;
    return read.subarray(0, end);
  } finally {
    closeSync(descriptor);
  }
}

function isComplete(line: string): boolean {
  if (!line.startsWith('{')) return true;
  const [value] = splitJsonValues(`${line}\n}`);
  return value?.text === line;
}

function* toLooseLines(text: string): Generator<TextLine> {
  for (const { text: value, line } of splitJsonValues(text)) yield toLooseLine(value, line);
}

function toLooseLine(text: string, number: number): TextLine {
  return { text, number, at: undefined, bytes: Buffer.byteLength(text) };
}

/** Yields the items of a JSON array, with the numbers of the lines in which they begin. */
function* splitArray(text: string, file: string): Generator<TextLine> {
  let values: unknown;
  try {
    values = parseJsonText(text);
  } catch (error) {
    const expected = 'expected a JSON array of objects, or one JSON object a line';
    throw new MeshError('config', `${file}: not JSON: ${toErrorMessage(error)}; ${expected}`, {
      cause: error,
    });
  }
  const numbers = findItemLines(text);
  for (const [index, value] of (Array.isArray(values) ? values : [values]).entries())
    yield toLooseLine(JSON.stringify(value), numbers[index] ?? 1);
}

/** Returns the line in which each item of a JSON array begins. */
function findItemLines(text: string): number[] {
  const numbers: number[] = [];
  let [depth, number, isNext] = [0, 1, false];
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '\n') number += 1;
    if (isNext && letter.trim() !== '') {
      numbers.push(number);
      isNext = false;
    }
    if (letter === '"') at = findStringEnd(text, at);
    else if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth -= 1;
    if (depth === 1 && (letter === '[' || letter === ',')) isNext = true;
  }
  return numbers;
}
