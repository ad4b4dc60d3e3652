/**
 * Kinds of a link's messages. A message begins with one byte for its kind, counted from 1, and six bytes
 * (big-endian) for a position in a stream; `data` continues with the stream's bytes from there on. `taken`
 * tells how far its sender has read the other stream, and that the sender is alive; `end` gives the length of
 * the sender's own stream; `open` is an agent's answer to a hub that requests a connection.
 */
const KINDS = ['data', 'taken', 'end', 'open'] as const;
type MessageKind = (typeof KINDS)[number];

interface LinkMessage {
  readonly kind: MessageKind;
  readonly place: number;
  readonly bytes: Uint8Array;
}

const PLACE_BYTES = 6;
export const HEADER_BYTES: number = 1 + PLACE_BYTES;

/** Allocates a message with room for `bytes` bytes of the stream. */
export function allocateMessage(kind: MessageKind, place: number, bytes = 0): Buffer {
  const message = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  message.writeUInt8(1 + KINDS.indexOf(kind), 0);
  message.writeUIntBE(place, 1, PLACE_BYTES);
  return message;
}

/** Parses a message; returns undefined for other bytes. */
export function readMessage(bytes: Uint8Array): LinkMessage | undefined {
  const kind = KINDS[(bytes[0] ?? 0) - 1];
  if (kind === undefined || bytes.length < HEADER_BYTES) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { kind, place: view.readUIntBE(1, PLACE_BYTES), bytes: bytes.subarray(HEADER_BYTES) };
}
