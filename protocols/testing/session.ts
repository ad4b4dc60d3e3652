import type { AdapterSession, Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet, PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import { expect } from 'vitest';

/** A session for an adapter that uses nothing of it. */
export const testSession: AdapterSession = {
  runId: 'test',
  self: 'a',
  peer: 'b',
  linkKey: new Uint8Array(32),
  runKey: new Uint8Array(32),
  offers: new Map(),
};

export const refused = expect.objectContaining({ code: 'packet' });

/** Opens the codec of such an adapter, for bytes and for texts. */
export function opened(adapter: ProtocolAdapter): {
  codec: Codec;
  decode(blob: Uint8Array | string): Packet;
  peek(blob: Uint8Array | string): PacketHead;
} {
  const codec = adapter.open(testSession);
  return {
    codec,
    decode: (blob) => codec.decode(Buffer.from(blob)),
    peek: (blob) => codec.peek?.(Buffer.from(blob)) ?? expect.fail('no peek'),
  };
}
