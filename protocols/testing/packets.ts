import { parsePacket } from '../../core/contracts/packet.ts';

/** A packet with all that a peek reads, for tests that break it in one place. */
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
