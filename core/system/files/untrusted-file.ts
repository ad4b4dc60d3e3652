import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { readSystemCode } from '../../contracts/errors.ts';

/** Flags that refuse links and do not block on pipes. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Codes of opening a path at which there is no file, or something else. */
const REFUSALS: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ELOOP',
  'ENXIO',
  'EACCES',
  'EPERM',
]);

/**
 * Opens a file in a folder that an agent can write. Returns undefined if there is no regular file: an agent that
 * puts a link or a pipe in its place stops nothing, and shows nothing. The caller closes the descriptor.
 */
export function openUntrustedFile(file: string): number | undefined {
  let descriptor: number;
  try {
    // Most agents never write the files that every task looks for: an error with its stack would cost more than the rest.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    if (REFUSALS.has(readSystemCode(error) ?? '')) return undefined;
    throw error;
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  return undefined;
}

/** The end of a file, from the beginning of a line. */
export interface FileEnd {
  readonly text: string;
  /** There is more before it. */
  readonly isCut: boolean;
}

/** Reads the last lines of a file as {@link openUntrustedFile} opens it, up to `maxBytes`. */
export function readLastLines(file: string, maxBytes: number): FileEnd | undefined {
  const descriptor = openUntrustedFile(file);
  if (descriptor === undefined) return undefined;
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
    const isCut = size > maxBytes;
    return { text: isCut ? text.slice(text.indexOf('\n') + 1) : text, isCut };
  } finally {
    closeSync(descriptor);
  }
}
