import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { quoteFileName } from './find-file.ts';
import type { LoadedFile } from './loaded-file.ts';

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
