import { describe, expect, test } from 'vitest';
import type { Packet } from '../contracts/packet.ts';
import { sampleHeader } from '../testing/sample-header.ts';
import { formatRecording, parseRecording, type Recording } from './recording.ts';

function packet(id: string, from: string, type = 'said'): Packet {
  return { type, from, id, task_id: 't', token_used: 0, ts: 0, payload: { text: 'né ✅' } };
}

const recording: Recording = {
  header: sampleHeader,
  packets: [
    { cause: null, tool_us: 0, packet: packet('hub-1', 'hub', 'doc_init') },
    {
      cause: 'hub-1',
      tool_us: 12.5,
      relayed: { bytes: 100, arrived_us: 7, forwarded_us: 9 },
      work: { received_us: 1, sent_us: 5, decode_us: 0.5, engine_us: 0, encode_us: 1 },
      packet: packet('0-1', '0'),
    },
    { cause: '0-1', inferred: true, tool_us: null, packet: packet('1-1', '1') },
  ],
};

/** The recording's text with one of its lines changed. */
function changed(index: number, change: (line: string) => string): string {
  return formatRecording(recording)
    .map((line, i) => (i === index ? `${change(line.trim())}\n` : line))
    .join('');
}

function inParts(...parts: readonly string[][]): string {
  const header = {
    ...recording.header,
    parts: parts.map((tasks, index) => ({ name: `${index}`, about: '', tasks })),
  };
  return formatRecording({ ...recording, header }).join('');
}

describe('a recording', () => {
  test('is the same after writing and reading', () => {
    expect(parseRecording(formatRecording(recording).join(''), 'file')).toEqual(recording);
  });

  test.each([
    ['a line that is not JSON', changed(2, (line) => line.slice(1)), 'file:3: not JSON'],
    [
      'an older version',
      changed(0, (line) => line.replace('version":2', 'version":1')),
      'file: a recording of version 1; this program reads version 2: make the run again',
    ],
    [
      'a newer version',
      changed(0, (line) => line.replace('version":2', 'version":3')),
      'version 3; this program reads version 2: it was made by a newer gaia-mesh',
    ],
    ['no header', changed(0, () => '{"kind":"something else"}'), 'file:1: not a recording'],
    ['a packet that is none', changed(1, (line) => line.replace('"ts":0,', '')), 'file:2: not a packet: ts'],
    [
      'a sender that is no agent',
      changed(3, (line) => line.replace('"from":"1"', '"from":"7"')),
      'from 7, which is no agent',
    ],
    [
      'a packet that caused itself',
      changed(2, (line) => line.replace('"cause":"hub-1"', '"cause":"0-1"')),
      'file:3: packet 0-1 was caused by itself',
    ],
    [
      'a cause that comes later',
      changed(2, (line) => line.replace('"cause":"hub-1"', '"cause":"1-1"')),
      'file:3: packet 0-1 was caused by 1-1, which comes after it',
    ],
    [
      'a packet that comes twice',
      changed(3, (line) =>
        line.replace('"id":"1-1"', '"id":"0-1"').replace('"cause":"0-1"', '"cause":"hub-1"'),
      ),
      'file:4: packet 0-1 comes twice',
    ],
    [
      'no document',
      formatRecording({ ...recording, packets: [] }).join(''),
      'it contains no document that opens a task',
    ],
    ['nothing', '', 'file:1: not JSON'],
    ['a task in two parts', inParts(['t'], ['t']), 'task t of part 1 is of part 0, too'],
    ['a task twice in a part', inParts(['t', 't']), 'task t of part 0 is of part 0, too'],
    ['a part of a task that is not there', inParts(['u']), 'task u of part 0 is not in the recording'],
  ])('with %s is refused with the reason', (_what, text, reason) => {
    expect(() => parseRecording(text, 'file')).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(reason) }),
    );
  });

  test('with a missing packet says which, and what is nearest', () => {
    const text = changed(2, (line) => line.replace('"id":"0-1"', '"id":"0-2"'));
    expect(() => parseRecording(text, 'file')).toThrow(
      'file:4: packet 1-1 was caused by 0-1, which is missing; the nearest is 0-2',
    );
  });
});
