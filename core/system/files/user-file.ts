import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import {
  type ErrorCode,
  explainFileFault,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '../../contracts/errors.ts';

/**
 * Flags with which opening never waits, even for a pipe without a writer. The kind of the file is checked after
 * it is open, so that it cannot be replaced between the check and the opening.
 */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
/** Bytes by which the buffer of a file grows whose size is unknown, such as one below `/proc`. */
const STEP_BYTES = 64 * 1024;

/** The description of a file in messages, and the code of its errors. */
interface UserFileKind {
  /** Its name in front of the path: `team file`. */
  readonly what: string;
  readonly code?: ErrorCode | undefined;
  readonly maxBytes?: number;
}

interface UserFileBounds extends UserFileKind {
  readonly maxBytes: number;
  /** True if a gzipped file is unpacked, to at most `maxBytes`. */
  readonly unpacks?: boolean;
}

/**
 * Opens a file that a user named, on the command line or in another file, for reading. The caller closes the
 * descriptor.
 *
 * @throws MeshError for anything but a regular file that can be read; its cause is the system's error
 */
export function openUserFile(
  file: string,
  { what, code = 'config', maxBytes = Number.POSITIVE_INFINITY }: UserFileKind,
): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    // A socket, and a device without a driver, cannot be opened.
    const fault = readSystemCode(error) === 'ENXIO' ? 'it is no regular file' : explainFileFault(error);
    throw new MeshError(code, `${what} ${file}: ${fault}`, { cause: error });
  }
  const status = fstatSync(descriptor);
  if (status.isFile() && status.size <= maxBytes) return descriptor;
  closeSync(descriptor);
  throw status.isFile()
    ? createTooLargeError(file, status.size, { what, code, maxBytes })
    : new MeshError(code, `${what} ${file}: ${describeKind(status)}`);
}

function createTooLargeError(
  file: string,
  size: number | string,
  { what, code = 'config', maxBytes }: UserFileBounds,
): MeshError {
  return new MeshError(code, `${what} ${file}: ${size} bytes, larger than ${maxBytes}`);
}

function describeKind(status: Stats): string {
  if (status.isDirectory()) return 'it is a folder';
  const kind = status.isFIFO() ? 'a pipe' : status.isSocket() ? 'a socket' : 'a device';
  return `it is no regular file, but ${kind}`;
}

/**
 * Reads a file that a user named, on the command line or in another file. It waits for nothing, and takes no
 * more memory than `maxBytes`.
 *
 * @throws MeshError for anything but a regular file of at most `maxBytes`; its cause is the system's error
 */
export function readUserFile(file: string, bounds: UserFileBounds): Buffer {
  const { maxBytes, what, code = 'config' } = bounds;
  const descriptor = openUserFile(file, bounds);
  let bytes = Buffer.alloc(0);
  let filled = 0;
  try {
    bytes = Buffer.allocUnsafe(fstatSync(descriptor).size + 1);
    for (;;) {
      const count = readSync(descriptor, bytes, filled, bytes.length - filled, null);
      if (count === 0) break;
      filled += count;
      // The file grows while it is read, or does not know its size.
      if (filled > maxBytes) throw createTooLargeError(file, `at least ${filled}`, bounds);
      if (filled === bytes.length)
        bytes = Buffer.concat([bytes, Buffer.allocUnsafe(Math.max(STEP_BYTES, filled))]);
    }
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError(code, `${what} ${file}: ${explainFileFault(error)}`, { cause: error });
  } finally {
    closeSync(descriptor);
  }
  const read = bytes.subarray(0, filled);
  return bounds.unpacks === true ? unpack(read, file, bounds) : read;
}

/** Reads a text file that a user named, as {@link readUserFile} does; bytes that are not UTF-8 are replaced. */
export function readUserText(file: string, bounds: UserFileBounds): string {
  return readUserFile(file, bounds).toString('utf8');
}

/** Unpacks gzipped bytes; inflating stops at the bound. Returns others as they are. */
function unpack(bytes: Buffer, file: string, { what, maxBytes, code = 'config' }: UserFileBounds): Buffer {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const fault =
      readSystemCode(error) === 'ERR_BUFFER_TOO_LARGE'
        ? `unpacked, it is larger than ${maxBytes} bytes`
        : `it cannot be unpacked: ${toErrorMessage(error)}`;
    throw new MeshError(code, `${what} ${file}: ${fault}`, { cause: error });
  }
}

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}
