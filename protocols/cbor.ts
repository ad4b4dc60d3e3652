import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { Encoder } from 'cbor-x';
import { withLargeIntegers } from './large-integers.ts';
import { CborScanner } from './scan/cbor.ts';
import { createCodec } from './scan/scanner.ts';

const options = {
  // Records are a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  // The library reads this option, but its types do not know it.
  tagUint8Array: false,
};
const encoder = new Encoder(options);

/**
 * Standard CBOR (RFC 8949) of the packet as a map, keys in the sender's order: every other implementation can
 * read it. cbor-x does not read it here: whatever its options, it would obey tags (records, whose readers it
 * compiles from the sender's keys; shared and packed values), rename `__proto__`, turn numeric keys into
 * texts, take the last of two equal keys and replace invalid UTF-8.
 */
export const cbor: ProtocolAdapter = {
  name: 'cbor',
  open: () =>
    createCodec({
      encode: (packet) => encoder.encode(withLargeIntegers(packet)),
      scan: (blob) => new CborScanner(blob),
      emptyPayloadBytes: 1,
    }),
};
