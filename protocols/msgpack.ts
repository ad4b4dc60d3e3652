import { Packr } from 'msgpackr';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { messageOf } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { notAPacket, readMapHead } from './head.ts';
import { MessagePackScanner } from './msgpack-scanner.ts';

/** Standard MessagePack of the packet as a map, keys in the sender's order: readable by every other implementation. */
export const msgpack: ProtocolAdapter = {
  name: 'msgpack',
  open: () => ({ encode, decode, headerSize, peek }),
};

const packr = new Packr({
  // A bare Packr writes records, a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  int64AsType: 'number',
  // A payload may have a key toJSON; with a key constructor beside it msgpackr would call it.
  useToJSON: false,
});

function encode(packet: Packet): Uint8Array {
  return packr.pack(packet);
}

/**
 * The bytes are judged before msgpackr sees them: it would obey private extensions, rename `__proto__`, make texts of
 * keys that are numbers, take the last of two equal keys and replace what is not UTF-8.
 */
function decode(blob: Uint8Array): Packet {
  const scanner = new MessagePackScanner(blob, 'strict');
  readMapHead(scanner);
  let value: unknown;
  try {
    value = packr.unpack(scanner.safeBlob());
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
  return parsePacket(value);
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + packr.pack({ ...packet, payload: {} }).length - packr.pack({}).length;
}

/**
 * Reads the top level of the map and steps over what it does not need, of which it sees the structure and no content.
 * Left to `decode`: bad UTF-8 and `__proto__` in a value that is stepped over, a `ts` or a text of the wrong type there, NaN, the syntax of node ids.
 */
function peek(blob: Uint8Array): PacketHead {
  return readMapHead(new MessagePackScanner(blob, 'lenient'));
}
