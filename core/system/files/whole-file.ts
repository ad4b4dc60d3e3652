import { closeSync, mkdtempSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { explainSystemFault, MeshError, readSystemCode, toErrorMessage } from '../../contracts/errors.ts';
import { makeFolder } from './make-folder.ts';

/**
 * Creates the folder `folder` if it is missing and checks that it is writable, before work begins whose
 * results go there.
 *
 * @throws MeshError `io` with the folder and the obstacle
 */
export function checkWritable(folder: string): void {
  try {
    makeFolder(folder);
    rmSync(mkdtempSync(path.join(folder, '.gaia-mesh-')), { recursive: true });
  } catch (error) {
    throw new MeshError('io', `${folder} cannot be written: ${explainWriteFault(error)}`, { cause: error });
  }
}

/**
 * Writes a file so that a reader sees the old one or the new one, never half of it or an empty one. A device or a pipe, such as
 * `/dev/stdout`, is written to and stays.
 *
 * @param text the content, or pieces of it that are made one by one, so that memory does not grow with their number
 * @throws MeshError `io` with the file and the obstacle
 */
export function writeWhole(file: string, text: string | Uint8Array | Iterable<string>): void {
  const part = `${file}.part`;
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile() && !there.isDirectory()) {
      writePieces(file, text);
      return;
    }
    writePieces(part, text);
    renameSync(part, file);
  } catch (error) {
    const isTaken = statSync(part, { throwIfNoEntry: false })?.isFile() === false;
    // A folder of that name is the user's.
    if (!isTaken) rmSync(part, { force: true });
    // The source of the pieces throws errors of its own.
    if (error instanceof MeshError) throw error;
    const fault = `${isTaken ? part : file} cannot be written: ${explainWriteFault(error)}`;
    throw new MeshError('io', fault, { cause: error });
  }
}

function writePieces(file: string, text: string | Uint8Array | Iterable<string>): void {
  // Results hold documents and answers, so only the user may read them.
  const descriptor = openSync(file, 'w', 0o600);
  try {
    const pieces = typeof text === 'string' || text instanceof Uint8Array ? [text] : text;
    for (const piece of pieces) writeFileSync(descriptor, piece);
  } finally {
    closeSync(descriptor);
  }
}

/** Explains in words why a file cannot be written. */
export function explainWriteFault(error: unknown): string {
  switch (readSystemCode(error)) {
    case 'ENOENT':
      return 'there is no such folder';
    case 'ENOTDIR':
      return 'a file stands where a folder is expected';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'no permission to write there';
    default:
      return explainSystemFault(error) ?? toErrorMessage(error);
  }
}
