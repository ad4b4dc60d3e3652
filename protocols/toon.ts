import { isUtf8 } from 'node:buffer';
import { decode as decodeToon, encode as encodeToon } from '@toon-format/toon';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { messageOf } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { HeadFields, notAPacket, readField } from './head.ts';
import { assertPlainToon, PACKET_END, ToonScanner } from './toon-scanner.ts';

/**
 * The packet as TOON (token-oriented object notation), keys in the sender's order, with an empty line behind it: meant for
 * models, so its figure is prompt tokens, not bytes.
 */
export const toon: ProtocolAdapter = {
  name: 'toon',
  open: () => ({ encode, decode, headerSize, peek }),
};

function encode(packet: Packet): Uint8Array {
  return Buffer.from(encodeToon(packet) + PACKET_END);
}

/** Only what the encoder writes is taken: no comments, empty lines, other delimiters or white space. */
function decode(blob: Uint8Array): Packet {
  peek(blob);
  if (!isUtf8(blob)) throw notAPacket('it is not UTF-8');
  const text = Buffer.from(blob.buffer, blob.byteOffset, blob.length - PACKET_END.length).toString();
  assertPlainToon(text);
  let value: unknown;
  try {
    value = decodeToon(text);
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
  return parsePacket(value);
}

/** An empty payload takes no bytes: it is the key alone. */
function headerSize(packet: Packet): number {
  return PREFIX_BYTES + encode({ ...packet, payload: {} }).length;
}

/**
 * Reads the lines that are not indented. Left to `decode`: all of the payload, UTF-8 and quotes in `reply_to` and `log_uri`, numbers
 * and literals without quotes where a text belongs, the syntax of node ids.
 */
function peek(blob: Uint8Array): PacketHead {
  const scanner = new ToonScanner(blob);
  const head = new HeadFields();
  while (!scanner.isAtEnd) readField(scanner, scanner.key(head), head);
  return head.finish();
}
