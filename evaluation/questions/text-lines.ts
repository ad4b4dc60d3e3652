import { closeSync, readSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_LINE_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';

const READ_BYTES = 256 * 1024;
const LINE_END = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a text file. */
export interface TextLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  /** Byte offset in the file. */
  readonly at: number;
  readonly bytes: number;
}

/** A line of a file, without its line feed. */
interface ByteLine {
  readonly bytes: Buffer;
  /** Counted from 1. */
  readonly number: number;
  readonly at: number;
  /** True if a line feed ends it; the last line may have none. */
  readonly isWhole: boolean;
}

interface ByteLimits {
  /** Maximum bytes of a line. */
  readonly maxBytes: number;
  readonly tooLong: (number: number) => Error;
  /** Offset at which reading ends, because the file may grow. */
  readonly end?: number;
}

/** Yields the lines of an open file one by one; the file is never in memory as a whole. */
export function* readByteLines(
  descriptor: number,
  { maxBytes, tooLong, end = Number.POSITIVE_INFINITY }: ByteLimits,
): Generator<ByteLine> {
  let chunk = Buffer.allocUnsafe(READ_BYTES);
  let rest = Buffer.alloc(0);
  let at = 0;
  for (let number = 1; ; ) {
    // Read as many bytes again as a long line already has, so that it is not copied for every chunk.
    if (chunk.length < rest.length) chunk = Buffer.allocUnsafe(rest.length);
    const from = at + rest.length;
    const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, end - from), from);
    const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
    let begin = 0;
    for (let feed = bytes.indexOf(LINE_END); feed !== -1; feed = bytes.indexOf(LINE_END, begin)) {
      if (feed - begin > maxBytes) throw tooLong(number);
      yield { bytes: bytes.subarray(begin, feed), number, at: at + begin, isWhole: true };
      number += 1;
      begin = feed + 1;
    }
    rest = Buffer.from(bytes.subarray(begin));
    at += begin;
    if (rest.length > maxBytes) throw tooLong(number);
    if (count > 0) continue;
    if (rest.length > 0) yield { bytes: rest, number, at, isWhole: false };
    return;
  }
}

/**
 * Yields the lines of a text file.
 *
 * @throws MeshError `config` for a file that cannot be read, and a line that is too long or not UTF-8
 */
export function* readTextLines(file: string, what: string, maxBytes: number): Generator<TextLine> {
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
export function rereadLine(file: string, { at, bytes }: Pick<TextLine, 'at' | 'bytes'>): string {
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
    throw new MeshError('config', `${file}:${number}: not UTF-8 text`, { cause: error });
  }
}
