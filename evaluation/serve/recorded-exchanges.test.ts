import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { describe, expect, test } from 'vitest';
import { listRecorded } from './recorded-exchanges.ts';

/** A packet of task `t` that came to the hub at `arrivedMs`. */
function packetAt(arrivedMs: number, bytes: number, packet: Partial<Packet>): RecordedPacket {
  return {
    cause: null,
    tool_us: 0,
    relayed: { bytes, arrived_us: arrivedMs * 1000, forwarded_us: arrivedMs * 1000 },
    packet: {
      type: 'said',
      from: '0',
      id: `${arrivedMs}`,
      task_id: 't',
      token_used: 5,
      ts: 0,
      payload: {},
      ...packet,
    },
  };
}
const opening = packetAt(10, 100, {
  type: 'doc_init',
  payload: { question: 'Who?', chunks: ['One.', 'Two.'] },
});
const answered = packetAt(40, 7, { tag: 'final_answer', payload: { answer: 'Ada' } });
const failed = packetAt(40, 7, { tag: 'task_failed', payload: { message: 'no model' } });

describe('a recorded question', () => {
  test('has the answer with the time, packets, bytes and tokens of the whole task', () => {
    const { questions } = listRecorded([opening, packetAt(20, 30, {}), answered]);
    const [exchange, withDocument, ...others] = questions;
    expect(exchange?.request).toEqual({ question: 'Who?' });
    expect(withDocument?.request).toEqual({ question: 'Who?', document: 'One. Two.' });
    expect(others).toEqual([]);
    expect(exchange?.reply).toMatchObject({
      answer: 'Ada',
      status: 'answered',
      elapsed_ms: 30,
      packets: 3,
      bytes: 137,
      tokens: 15,
    });
    expect(withDocument?.reply).toEqual(exchange?.reply);
  });

  test('that failed has its reason, and no answer', () => {
    const [{ reply } = {}] = listRecorded([opening, failed]).questions;
    expect(reply).toMatchObject({ answer: null, status: 'failed', reason: 'no model' });
  });

  test.each([
    ['that has not ended', [opening]],
    ['without words', [packetAt(10, 1, { type: 'doc_init', payload: { question: 7 } }), answered]],
  ])('%s has no reply', (_what, packets) => {
    expect(listRecorded(packets).questions).toEqual([]);
  });
});
