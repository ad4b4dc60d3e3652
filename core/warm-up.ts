import type { ProtocolAdapter } from './adapter.ts';
import { HUB_ID, type JsonValue, type Packet } from './packet.ts';

const MEMBER_ID = 'member';
/** What a small document makes; enough to have the code compiled that a packet runs through. */
const CHUNKS = 20;
const ROUNDS = 3;

/**
 * Sends a few packets from one codec of `adapter` to another, in memory: what compiles and loads on the first packet is done
 * before a task's clock runs. An adapter that cannot carry them says so here, and not in the middle of a run.
 */
export function warmUp(adapter: ProtocolAdapter): void {
  const runId = 'warm-up';
  const hub = adapter.join?.({ runId, self: HUB_ID });
  const member = adapter.join?.({ runId, self: MEMBER_ID });
  const offers = new Map<string, JsonValue>();
  if (hub !== undefined) offers.set(HUB_ID, hub.offer);
  if (member !== undefined) offers.set(MEMBER_ID, member.offer);
  const common = { runId, linkKey: new Uint8Array(32), runKey: new Uint8Array(32), offers };
  const writer = (member ?? adapter).open({ ...common, self: MEMBER_ID, peer: HUB_ID });
  const reader = (hub ?? adapter).open({ ...common, self: HUB_ID, peer: MEMBER_ID });
  for (let round = 0; round < ROUNDS; round++) {
    const packet = samplePacket(round);
    const blob = writer.encode(packet);
    writer.headerSize(packet);
    reader.peek?.(blob);
    reader.decode(blob);
  }
}

function samplePacket(round: number): Packet {
  return {
    type: 'sample',
    from: MEMBER_ID,
    id: `${MEMBER_ID}-${round}`,
    task_id: 'warm-up',
    token_used: round,
    ts: 0,
    payload: {
      question: 'Does it work?',
      chunks: Array.from({ length: CHUNKS }, (_, i) => `${i} `.repeat(100)),
    },
  };
}
