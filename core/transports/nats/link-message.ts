/**
 * A message of a link: one byte what it is, from 1 on, six bytes (big-endian) a place in a stream, and for `data` the stream's bytes from there
 * on. `taken` says how far its sender has read the other's stream, and that it is there; `end` how long its own is; `open` is an
 * agent's answer to a hub that wants a connection.
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

/** A message with room for `bytes` bytes of the stream. */
export function allocateMessage(kind: MessageKind, place: number, bytes = 0): Buffer {
  const message = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  message.writeUInt8(1 + KINDS.indexOf(kind), 0);
  message.writeUIntBE(place, 1, PLACE_BYTES);
  return message;
}

/** Undefined for bytes that are no such message. */
export function readMessage(bytes: Uint8Array): LinkMessage | undefined {
  const kind = KINDS[(bytes[0] ?? 0) - 1];
  if (kind === undefined || bytes.length < HEADER_BYTES) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { kind, place: view.readUIntBE(1, PLACE_BYTES), bytes: bytes.subarray(HEADER_BYTES) };
}
