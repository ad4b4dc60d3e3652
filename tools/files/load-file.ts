import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { explainFileFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { explainAbsence, type FileContext, findFile, quoteFileName } from './find-file.ts';
import type { LoadedFile } from './loaded-file.ts';

/** Matches a member of an archive by the shortest archive name: archives in archives are not opened. */
const IN_ARCHIVE = /^(.+?\.zip)[/\\](.+)$/i;

/**
 * Loads the file that {@link findFile} finds for `name`, or a member of an archive of the task:
 * `photos.zip/harbour.png`.
 *
 * @throws MeshError `tool` for a file that is missing (REQ-052), too large, or outside the task's folders
 */
export async function loadTaskFile(context: FileContext, name: string): Promise<LoadedFile> {
  const [, archive, member] = IN_ARCHIVE.exec(name) ?? [];
  if (archive !== undefined && member !== undefined) {
    const { openZipMember } = await import('./archives/zip-report.ts');
    return openZipMember(await loadTaskFile(context, archive), member);
  }
  const found = await findFile(context, name);
  if (!found.isThere)
    throw new MeshError(
      'tool',
      `${await explainAbsence(context, name)}; it was looked for up to ${found.path}`,
    );
  return loadFile(found.path, found.name);
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
