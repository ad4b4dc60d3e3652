import type { Readable, Writable } from 'node:stream';

/** Lets `onChunk` see the data that comes to `stream`, and changes nothing: a listener would make it flow. */
export function tapReads(stream: Readable, onChunk: (chunk: Buffer) => void): void {
  const push = stream.push;
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const bytes = toBytes(chunk, encoding);
    if (bytes !== undefined) onChunk(bytes);
    return push.call(stream, chunk, encoding);
  };
}

/** Lets `onChunk` see the data that `stream` hands to the layer below it. */
export function tapWrites(stream: Writable, onChunk: (chunk: Buffer) => void): void {
  const { _write: write, _writev: writev } = stream;
  const see = (chunk: unknown, encoding: unknown) => {
    const bytes = toBytes(chunk, encoding);
    if (bytes !== undefined) onChunk(bytes);
  };
  stream._write = (chunk: unknown, encoding, callback) => {
    see(chunk, encoding);
    write.call(stream, chunk, encoding, callback);
  };
  if (writev === undefined || writev === null) return;
  stream._writev = (chunks, callback) => {
    for (const { chunk, encoding } of chunks) see(chunk, encoding);
    writev.call(stream, chunks, callback);
  };
}

/** Returns `chunk` as bytes; undefined for the end of a stream and for anything else. */
export function toBytes(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (typeof chunk === 'string') {
    return Buffer.from(
      chunk,
      typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8',
    );
  }
  if (!(chunk instanceof Uint8Array)) return undefined;
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
