import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { quoteFileName } from './find-file.ts';
import type { LoadedFile } from './loaded-file.ts';

/**
 * What a library makes of a file. Libraries say in many ways, a failed type check or a stack overflow among them, that bytes are
 * not what they should be: here, and only here, whatever they throw is the file's fault.
 *
 * @throws MeshError `tool`
 */
export async function fromLibrary<Result>(
  { name, bytes }: LoadedFile,
  what: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  // Now, since a library may take the bytes over.
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
