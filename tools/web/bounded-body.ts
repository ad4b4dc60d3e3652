import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/**
 * Reads a whole body.
 *
 * @throws MeshError `tool` as soon as there are more than `maxBytes`, naming `what`; the rest is not read
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  what: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of limitBytes(body, maxBytes, what)) parts.push(part);
  return Buffer.concat(parts);
}

/** Yields the parts of a body as they arrive. */
export async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  what: string,
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > maxBytes)
      throw new MeshError('tool', `${what} is larger than ${formatMegabytes(maxBytes)}: not read`);
    yield part;
  }
}

export function formatMegabytes(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${Math.round(bytes / 100_000) / 10} MB`;
}
