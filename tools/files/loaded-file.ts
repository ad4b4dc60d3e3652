import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { explainFileFault, MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';

/** A file in memory. */
export interface LoadedFile {
  /** The name, for messages and for its extension. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Returns a name unchanged, or quoted when it contains characters that could pass for something else. */
export function quoteFileName(name: string): string {
  const isPlain = name.length <= 256 && /^[^\p{C}\p{Zl}\p{Zp}"]+$/u.test(name);
  return isPlain ? name : JSON.stringify(name.slice(0, 256).toWellFormed());
}

/**
 * Loads the bytes of a regular file.
 *
 * @throws MeshError `tool`, naming `name`
 */
export async function loadFile(file: string, name: string): Promise<LoadedFile> {
  let handle: FileHandle | undefined;
  try {
    // The flags refuse a link that meanwhile replaced the file, and a pipe without a writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await handle.stat();
    if (!status.isFile())
      throw new MeshError('tool', `${quoteFileName(name)} is not a regular file, so it is not read`);
    if (status.size > FILE_LIMITS.bytes) {
      throw new MeshError(
        'tool',
        `${quoteFileName(name)} has ${status.size} bytes: files of up to ${FILE_LIMITS.bytes} are read`,
      );
    }
    const bytes = new Uint8Array(status.size);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { name, bytes: bytes.subarray(0, filled) };
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    throw new MeshError(
      'tool',
      `${quoteFileName(name)} cannot be read (${file}): ${explainFileFault(cause)}`,
      { cause },
    );
  } finally {
    await handle?.close();
  }
}

/**
 * Runs a library over a file. Libraries report broken bytes in many ways, including failed type checks and stack
 * overflows: here, and only here, every error counts as the file's fault.
 *
 * @throws MeshError `tool`
 */
export async function fromLibrary<Result>(
  { name, bytes }: LoadedFile,
  what: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  // Read the length first: a library may take the bytes over.
  const { length } = bytes;
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    const reason = shortenReason(toErrorMessage(cause).replace(/\s+/g, ' ')).toWellFormed();
    throw new MeshError(
      'tool',
      `${quoteFileName(name)} (${length} bytes) cannot be read as ${what}: ${reason}`,
      {
        cause,
      },
    );
  }
}
