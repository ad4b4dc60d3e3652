import * as z from 'zod';
import { PREFIX_BYTES } from '../wire/frame.ts';
import type { Codec } from './adapter.ts';
import type { Packet } from './packet.ts';

/**
 * The byte ledger: every byte written for a packet is on exactly one line.
 *
 * For one packet on one connection, with |x| = length in bytes:
 *
 * - `wire`     W = 4 + |blob|
 * - `payload`  P = UTF-8 bytes of `JSON.stringify(payload)`
 * - `envelope` V = |encode(packet with payload {})| − |encode({})|
 * - `payload_coding` C = |blob before layers| − V − P
 *
 * W = framing + envelope + payload + payload_coding + layers, always.
 */
export const ledgerLineSchema = z
  .strictObject({
    packets: z.int().nonnegative().describe('packets'),
    wire: z.int().nonnegative().describe('bytes of their frames: the sum of the next five'),
    payload: z
      .int()
      .nonnegative()
      .describe('bytes of the payloads as compact JSON: what the application says'),
    framing: z.int().nonnegative().describe('bytes of the lengths in front, 4 for each packet'),
    envelope: z
      .int()
      .nonnegative()
      .describe('bytes around the payload: sender, type, task and what the protocol demands'),
    payload_coding: z
      .int()
      .describe('bytes that writing the payload in this format adds to it; below 0 where it saves some'),
    layers: z.int().describe('bytes that layers add; below 0 where compression saves some'),
    header_size: z.int().nonnegative().describe('framing + envelope + what layers add'),
    net: z.int().describe('wire − payload'),
  })
  .meta({ id: 'ledger line', description: 'Bytes of packets by what they are for.' });

/** Sums of bytes over `packets` packets. */
export type LedgerLine = { -readonly [K in keyof z.infer<typeof ledgerLineSchema>]: number };

export function createLedgerLine(): LedgerLine {
  return {
    packets: 0,
    wire: 0,
    payload: 0,
    framing: 0,
    envelope: 0,
    payload_coding: 0,
    layers: 0,
    header_size: 0,
    net: 0,
  };
}

/**
 * Returns the ledger line of one packet that `codec` encoded as `blobBytes` bytes, of which its layers added
 * `layerBytes`.
 */
export function measureLine(codec: Codec, packet: Packet, blobBytes: number, layerBytes = 0): LedgerLine {
  const wire = PREFIX_BYTES + blobBytes;
  const payload = Buffer.byteLength(JSON.stringify(packet.payload));
  const headerSize = codec.headerSize(packet);
  const envelope = headerSize - PREFIX_BYTES - (codec.layerBytes?.overhead ?? 0);
  return {
    packets: 1,
    wire,
    payload,
    framing: PREFIX_BYTES,
    envelope,
    payload_coding: wire - PREFIX_BYTES - envelope - payload - layerBytes,
    layers: layerBytes,
    header_size: headerSize,
    net: wire - payload,
  };
}

/** Adds `line` to `sum`. */
export function addLine(sum: LedgerLine, line: LedgerLine): void {
  sum.packets += line.packets;
  sum.wire += line.wire;
  sum.payload += line.payload;
  sum.framing += line.framing;
  sum.envelope += line.envelope;
  sum.payload_coding += line.payload_coding;
  sum.layers += line.layers;
  sum.header_size += line.header_size;
  sum.net += line.net;
}
