type Bytes = AsyncIterable<Uint8Array> | null;

/** Yields the parts of a body as they arrive; after more than `maxBytes` it throws the caller's error, and the rest is not read. */
export async function* limitBytes(
  body: Bytes,
  maxBytes: number,
  createError: () => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw createError();
    yield part;
  }
}

/** Reads a whole body, with the bound of {@link limitBytes}. */
export async function readBytes(
  body: Bytes,
  maxBytes: number,
  createError: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of limitBytes(body, maxBytes, createError)) parts.push(part);
  return Buffer.concat(parts);
}
