import { describe, expect, test } from 'vitest';
import type { Packet } from '../../contracts/packet.ts';
import type { Recording } from '../recording.ts';
import { TrafficTally } from './traffic-groups.ts';

function recordingOf(sizes: readonly [task: string, bytes: number][], parts?: Recording['header']['parts']) {
  const packets = sizes.map(([task_id, bytes], index): Recording['packets'][number] => {
    const payload = { text: 'x'.repeat(bytes - '{"text":""}'.length) };
    const packet: Packet = { type: 'a', from: '1', id: `1-${index}`, task_id, token_used: 0, ts: 0, payload };
    return { cause: null, tool_us: null, packet };
  });
  const header: Recording['header'] = {
    run_id: 'r',
    team: 't',
    final: null,
    routing: 'direct',
    adapter: 'json',
    engine: 'none',
    agents: [{ id: '1', tool: 'x' }],
    parts,
  };
  return { header, packets };
}

describe('the groups of a recording', () => {
  test('have each packet in one part and in one class of size, by the bytes of its payload', () => {
    const recording = recordingOf(
      [
        ['a-1', 255],
        ['a-2', 256],
        ['b-1', 1023],
        ['c', 9000],
      ],
      [
        { name: 'a', about: '', tasks: ['a-1', 'a-2'] },
        { name: 'b', about: '', tasks: ['b-1'] },
      ],
    );
    const tally = new TrafficTally(recording);
    for (const [index, { packet }] of recording.packets.entries()) tally.add(packet.id, 10_000 + index);

    const { parts, sizes } = tally.groups();
    expect(parts).toEqual([
      { name: 'a', packets: 2, payload: 511, wire: 20_001 },
      { name: 'b', packets: 1, payload: 1023, wire: 10_002 },
      { name: 'other', packets: 1, payload: 9000, wire: 10_003 },
    ]);
    expect(sizes.map(({ name, packets }) => [name, packets])).toEqual([
      ['below 256 B', 1],
      ['256 B to 1 KiB', 2],
      ['8 KiB and more', 1],
    ]);
    tally.begin();
    expect(tally.groups().sizes).toEqual([]);
    expect(parts[0]?.packets).toBe(2);
  });

  test('are one part where the recording names none', () => {
    const { parts } = new TrafficTally(recordingOf([['t', 300]])).groups();

    expect(parts).toEqual([{ name: 'all', packets: 0, payload: 0, wire: 0 }]);
  });
});
