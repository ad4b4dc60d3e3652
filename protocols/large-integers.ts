import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';

const MAX_32_BITS = 2 ** 32 - 1;

/**
 * Returns the packet with the whole numbers of its envelope in the form from which MessagePack and CBOR
 * libraries write integers: numbers beyond 32 bits become bigints, which `ts` always does. As numbers they
 * would be written as floats of the same size, and a reader in another language would get a time that is no
 * integer. The keys keep their order.
 */
export function withLargeIntegers(packet: Packet): object {
  const { ts, token_used } = packet;
  if (ts <= MAX_32_BITS && token_used <= MAX_32_BITS) return packet;
  return { ...packet, ts: toInteger(ts), token_used: toInteger(token_used) };
}

function toInteger(value: number): number | bigint {
  return value > MAX_32_BITS ? BigInt(value) : value;
}
