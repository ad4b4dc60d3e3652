import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { copyHead } from '@gaia-mesh/core/contracts/packet.ts';
import { JsonScanner, parseJson } from './scan/json.ts';
import { CompactHeads } from './scan/json-head.ts';
import { createCodec, toBuffer } from './scan/scanner.ts';

/** Compact UTF-8 JSON of the packet, keys in the sender's order. */
export const json: ProtocolAdapter = {
  name: 'json',
  open() {
    const heads = new CompactHeads();
    const { peek, ...codec } = createCodec({
      encode: (packet) => Buffer.from(JSON.stringify(packet)),
      scan: (blob) => new JsonScanner(blob),
      parse: parseJson,
      emptyPayloadBytes: '{}'.length,
    });
    const peekAt: Codec['peekAt'] = (bytes, start, end) =>
      heads.peekAt(bytes, start, end) ?? peek(bytes.subarray(start, end));
    return { ...codec, peekAt, peek: (blob) => copyHead(peekAt(toBuffer(blob), 0, blob.length)) };
  },
};
