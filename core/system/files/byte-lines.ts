import { readSync } from 'node:fs';

const READ_BYTES = 256 * 1024;
const LINE_END = 0x0a;

/** A line of a file, without its line feed. */
export interface ByteLine {
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
