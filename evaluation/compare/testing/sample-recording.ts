import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { sampleHeader } from '@gaia-mesh/core/testing/sample-header.ts';

function packet(id: string, from: string, more: Partial<Packet> = {}): Packet {
  return {
    type: 'said',
    from,
    id,
    task_id: 't',
    token_used: 1,
    ts: 1_795_316_373_827,
    payload: { text: 'né ✅' },
    ...more,
  };
}

/** A recording of a document, a request, its answer and a final answer; the document does not fit one record of TLS. */
export const sampleRecording: Recording = {
  header: sampleHeader,
  packets: [
    {
      cause: null,
      tool_us: 0,
      packet: packet('hub-1', 'hub', { type: 'doc_init', payload: { text: 'x'.repeat(20_000) } }),
    },
    { cause: 'hub-1', tool_us: 12.5, packet: packet('0-1', '0', { to: '1' }) },
    { cause: '0-1', tool_us: 3, packet: packet('1-1', '1', { to: '0', reply_to: '0-1' }) },
    { cause: '0-1', tool_us: 3, packet: packet('1-2', '1', { tag: 'final_answer' }) },
  ],
};
