import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { drawPacket } from '../contract/random.ts';

/** A packet with every key that a peek reads, for tests that break it in one place. */
export const plainPacket = parsePacket({
  type: 'triples',
  from: 'extractor-1',
  to: 'writer',
  id: 'extractor-1-7',
  task_id: 't-1',
  tag: 'x',
  token_used: 7,
  ts: 1,
  payload: { a: 1 },
});

/** Returns the same packets on every call with the same count. */
export function randomPackets(count: number): Packet[] {
  const random = new Random(count);
  return Array.from({ length: count }, () => drawPacket(random));
}
