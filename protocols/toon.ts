import { isUtf8 } from 'node:buffer';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { decode as decodeToon, encode as encodeToon } from '@toon-format/toon';
import { createCodec, createPacketError, toBuffer } from './scan/scanner.ts';
import { assertPlainToon, PACKET_END, ToonScanner } from './scan/toon.ts';

/**
 * The packet as TOON (token-oriented object notation), keys in the sender's order, followed by an empty line.
 * The format is meant for models, so its figure is prompt tokens, not bytes.
 */
export const toon: ProtocolAdapter = {
  name: 'toon',
  // An empty payload takes no bytes: only its key is written.
  open: () => createCodec({ encode, parse, scan: (blob) => new ToonScanner(blob), emptyPayloadBytes: 0 }),
};

function encode(packet: Packet): Uint8Array {
  return Buffer.from(encodeToon(packet) + PACKET_END);
}

/** Parses only what the encoder writes: no comments, empty lines, other delimiters or white space. */
function parse(blob: Uint8Array): unknown {
  if (!isUtf8(blob)) throw createPacketError('it is not UTF-8');
  const text = toBuffer(blob).toString('utf8', 0, blob.length - PACKET_END.length);
  assertPlainToon(text);
  try {
    return decodeToon(text);
  } catch (error) {
    throw createPacketError(toErrorMessage(error), error);
  }
}
