import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { HeldBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { ByteQueue } from '../../http/byte-queue.ts';

/**
 * Bytes in front of a message of gRPC (gRPC over HTTP/2, "Length-Prefixed-Message"): one for compression,
 * four for the length.
 */
const PREFIX_BYTES = 5;

export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/**
 * Yields the messages of a body.
 *
 * @throws MeshError `packet` for a compressed or truncated message, `limit` for one that is larger than
 * `most`, by default the largest packet
 */
export async function* readMessages(
  body: AsyncIterable<unknown>,
  most = MAX_FRAME_BYTES,
  held?: HeldBytes,
): AsyncGenerator<Buffer, void, undefined> {
  const rest = new ByteQueue();
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a body is bytes');
    held?.grow(chunk.length);
    rest.add(chunk);
    while (rest.length >= PREFIX_BYTES) {
      const head = rest.bytes;
      const length = head.readUInt32BE(1);
      if (head[0] !== 0) throw new MeshError('packet', 'gRPC: expected a message that is not compressed');
      if (length > most)
        throw new MeshError('limit', `gRPC: expected at most ${most} bytes, received ${length}`);
      if (rest.length < PREFIX_BYTES + length) break;
      yield rest.take(PREFIX_BYTES + length).subarray(PREFIX_BYTES);
    }
  }
  if (rest.length > 0)
    throw new MeshError('packet', `gRPC: a message was cut off after ${rest.length} bytes`);
}
