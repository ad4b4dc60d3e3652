import type { ProtocolAdapter } from '../../contracts/adapter.ts';
import { HUB_ID, type Packet } from '../../contracts/packet.ts';
import { openMembers } from '../../wire/members.ts';

const MEMBER_ID = 'member';
/** Chunks of a small document: enough to compile the code that a packet runs through. */
const CHUNKS = 20;
/** Number of objects in the sample: objects and numbers take other paths through a codec than texts. */
const FINDINGS = 40;
/** The first packet loads and compiles. More than two would delay the start by more than they save the first task. */
const ROUNDS = 2;

/**
 * Sends a few packets from one codec of `adapter` to another, in memory, so that compiling and loading happen
 * before a task's clock runs. An adapter that cannot carry them fails here, and not in the middle of a run.
 */
export function warmUp(adapter: ProtocolAdapter): void {
  const codecs = openMembers(adapter, 'warm-up', [MEMBER_ID]);
  const writer = codecs.get(MEMBER_ID);
  const reader = codecs.get(HUB_ID);
  for (let round = 0; round < ROUNDS; round++) {
    const packet = createSamplePacket(round);
    const blob = writer?.encode(packet);
    if (blob === undefined) continue;
    writer?.headerSize(packet);
    reader?.peek?.(blob);
    reader?.decode(blob);
  }
}

function createSamplePacket(round: number): Packet {
  return {
    type: 'sample',
    from: MEMBER_ID,
    id: `${MEMBER_ID}-${round}`,
    task_id: 'warm-up',
    token_used: round,
    ts: 0,
    payload: {
      question: 'Does it “work”?',
      chunks: Array.from({ length: CHUNKS }, (_, i) => `${i} `.repeat(100)),
      findings: Array.from({ length: FINDINGS }, (_, i) => ({
        text: `finding ${i}`,
        at: i,
        isSure: i % 2 === 0,
        scores: [i / 7, -i, i * 1e3, 0, 1, null],
      })),
    },
  };
}
