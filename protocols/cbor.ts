import { Encoder } from 'cbor-x';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { messageOf } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { CborScanner } from './cbor-scanner.ts';
import { notAPacket, readMapHead } from './head.ts';

/** Standard CBOR (RFC 8949) of the packet as a map, keys in the sender's order: readable by every other implementation. */
export const cbor: ProtocolAdapter = {
  name: 'cbor',
  open: () => ({ encode, decode, headerSize, peek }),
};

const options = {
  // Records are a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  // Read by the library, unknown to its types.
  int64AsNumber: true,
  tagUint8Array: false,
};
const encoder = new Encoder(options);

function encode(packet: Packet): Uint8Array {
  return encoder.encode(packet);
}

/**
 * The bytes are judged before cbor-x sees them: whatever its options, it would obey tags (records, whose readers it
 * compiles from the sender's keys; shared and packed values), rename `__proto__`, make texts of keys that are numbers,
 * take the last of two equal keys and replace what is not UTF-8.
 */
function decode(blob: Uint8Array): Packet {
  const scanner = new CborScanner(blob, 'strict');
  readMapHead(scanner);
  let value: unknown;
  try {
    value = encoder.decode(scanner.safeBlob());
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
  return parsePacket(value);
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + encoder.encode({ ...packet, payload: {} }).length - encoder.encode({}).length;
}

/**
 * Reads the top level of the map and steps over what it does not need, of which it sees the structure and no content.
 * Left to `decode`: bad UTF-8 and `__proto__` in a value that is stepped over, a `ts` or a text of the wrong type there, NaN, the syntax of node ids.
 */
function peek(blob: Uint8Array): PacketHead {
  return readMapHead(new CborScanner(blob, 'lenient'));
}
