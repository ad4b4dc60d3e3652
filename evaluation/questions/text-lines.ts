import { closeSync, openSync, readSync } from 'node:fs';
import { MeshError } from '../../core/contracts/errors.ts';
import { MAX_LINE_BYTES } from '../../core/contracts/limits.ts';

const READ_BYTES = 256 * 1024;
const LINE_END = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a text file. */
export interface TextLine {
  readonly text: string;
  /** Counted from 1. */
  readonly number: number;
  /** Where it stands in the file. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * The lines of a file, one after the other: the file is never in memory as a whole.
 *
 * @throws MeshError `config` for a line that is too long or not UTF-8; what the file system says
 */
export function* textLines(file: string): Generator<TextLine> {
  const descriptor = openSync(file, 'r');
  try {
    let chunk = Buffer.allocUnsafe(READ_BYTES);
    let rest = Buffer.alloc(0);
    let at = 0;
    for (let number = 1; ; ) {
      // Of a long line as much again as is there: it is not copied for every piece of it.
      if (chunk.length < rest.length) chunk = Buffer.allocUnsafe(rest.length);
      const count = readSync(descriptor, chunk, 0, chunk.length, at + rest.length);
      const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
      let from = 0;
      for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
        yield lineOf(file, number, at + from, bytes.subarray(from, end));
        number += 1;
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      at += from;
      if (rest.length > MAX_LINE_BYTES) tooLong(file, number);
      if (count > 0) continue;
      if (rest.length > 0) yield lineOf(file, number, at, rest);
      return;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a line again. */
export function lineAt(file: string, { at, bytes }: Pick<TextLine, 'at' | 'bytes'>): string {
  const descriptor = openSync(file, 'r');
  try {
    const line = Buffer.alloc(bytes);
    readSync(descriptor, line, 0, bytes, at);
    return line.toString();
  } finally {
    closeSync(descriptor);
  }
}

function lineOf(file: string, number: number, at: number, bytes: Buffer): TextLine {
  if (bytes.length > MAX_LINE_BYTES) tooLong(file, number);
  const begin =
    at === 0 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
      ? BYTE_ORDER_MARK.length
      : 0;
  const line = bytes.subarray(begin);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
    return { text, number, at: at + begin, bytes: line.length };
  } catch (error) {
    throw new MeshError('config', `${file}:${number}: not UTF-8 text`, { cause: error });
  }
}

function tooLong(file: string, number: number): never {
  throw new MeshError('config', `${file}:${number}: longer than ${MAX_LINE_BYTES} bytes`);
}
