import * as z from 'zod';
import type { Codec } from './adapter.ts';
import { PREFIX_BYTES } from './frame.ts';
import type { Packet } from './packet.ts';

/**
 * The byte ledger: every byte written for a packet is on exactly one line.
 *
 * For one packet on one connection, with |x| = length in bytes:
 *
 * - `wire`     W = 4 + |blob|: all that is written to the socket
 * - `payload`  P = UTF-8 bytes of `JSON.stringify(payload)`: the application's own content
 * - `framing`  4, the length prefix
 * - `envelope` V = |encode(packet with payload {})| − |encode({})|
 * - `payload_coding` C = |blob before layers| − V − P: 0 for verbatim JSON, below 0 where the format is more compact
 * - `layers`   what layers around the codec (checksum, signature, compression) add or save
 *
 * W = framing + envelope + payload + payload_coding + layers, always.
 * `header_size` = framing + envelope + what layers add (≥ 0, comparable between adapters); `net` = W − P.
 */
export const ledgerLineSchema = z.strictObject({
  packets: z.int().nonnegative(),
  wire: z.int().nonnegative(),
  payload: z.int().nonnegative(),
  framing: z.int().nonnegative(),
  envelope: z.int().nonnegative(),
  payload_coding: z.int(),
  layers: z.int(),
  header_size: z.int().nonnegative(),
  net: z.int(),
});

/** Sums of bytes over `packets` packets. */
export type LedgerLine = { -readonly [K in keyof z.infer<typeof ledgerLineSchema>]: number };

export function emptyLine(): LedgerLine {
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

/** The line of one packet that `codec` encoded as `blobBytes` bytes; `layerBytes` is what its layers had added then. */
export function lineOf(codec: Codec, packet: Packet, blobBytes: number, layerBytes = 0): LedgerLine {
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

/** Adds `line` to `sum`, `times` times. */
export function addLine(sum: LedgerLine, line: LedgerLine, times = 1): void {
  sum.packets += line.packets * times;
  sum.wire += line.wire * times;
  sum.payload += line.payload * times;
  sum.framing += line.framing * times;
  sum.envelope += line.envelope * times;
  sum.payload_coding += line.payload_coding * times;
  sum.layers += line.layers * times;
  sum.header_size += line.header_size * times;
  sum.net += line.net * times;
}
