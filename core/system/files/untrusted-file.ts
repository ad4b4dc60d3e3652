import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { readSystemCode } from '../../contracts/errors.ts';

/** Flags that refuse links and do not block on pipes. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Error codes for a path at which there is no file, or no regular one. */
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
 * Opens a file in a folder that an agent can write. Returns undefined if there is no regular file: a link or a
 * pipe that an agent puts in its place neither blocks this process nor leads to another file. The caller closes
 * the descriptor.
 */
export function openUntrustedFile(file: string): number | undefined {
  let descriptor: number;
  try {
    // Most agents never write the files that every task looks for, and creating an error costs more than this check.
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
interface FileEnd {
  readonly text: string;
  /** True if the file has more text before this. */
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
