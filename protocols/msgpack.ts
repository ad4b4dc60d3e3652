import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { Packr } from 'msgpackr';
import { withLargeIntegers } from './large-integers.ts';
import { MessagePackScanner } from './scan/msgpack.ts';
import { createCodec } from './scan/scanner.ts';

const packr = new Packr({
  // A bare Packr writes records, a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  // A payload may have a key toJSON; with a key constructor beside it msgpackr would call it.
  useToJSON: false,
});

/**
 * Standard MessagePack of the packet as a map, keys in the sender's order: every other implementation can
 * read it. msgpackr does not read it here: it would obey private extensions, rename `__proto__`, turn numeric
 * keys into texts, take the last of two equal keys and replace invalid UTF-8.
 */
export const msgpack: ProtocolAdapter = {
  name: 'msgpack',
  open: () =>
    createCodec({
      encode: (packet) => packr.pack(withLargeIntegers(packet)),
      scan: (blob) => new MessagePackScanner(blob),
      emptyPayloadBytes: 1,
    }),
};
