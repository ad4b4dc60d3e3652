import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { describe, expect, test } from 'vitest';
import { sampleRun } from '../testing/sample-archive.ts';
import { buildRunData, type PacketDetail } from './run-data.ts';

async function dataOf(options: Parameters<typeof sampleRun>[0]) {
  const data = await buildRunData(await sampleRun(options));
  if (data.packets === null) throw new Error('there are no packets');
  return { ...data, packets: data.packets, details: parseDetails(data) };
}

function parseDetails({ details }: { readonly details: string }): PacketDetail[] {
  return JSON.parse(details);
}

function bytesOf({ blob }: PacketDetail): Buffer {
  if ('fault' in blob) throw new Error(blob.fault);
  return Buffer.from(blob.base64, 'base64');
}

describe('the packets of a run', () => {
  test('say who sent them because of what, when they came, and what ended the task', async () => {
    const { packets, tasks, details, notes } = await dataOf({});

    expect(tasks).toEqual([{ id: 't-0', question: 'hello' }]);
    expect(packets).toMatchObject({
      nodes: [
        { id: 'hub', tool: '' },
        { id: '0', tool: 'hello' },
        { id: '1', tool: 'hello' },
      ],
      from: [0, 1, 2],
      to: [-1, -1, -1],
      cause: [-1, 0, 1],
      at: [0, 1000, 2000],
      tool: [0, 100, 100],
      isTimed: true,
      final: [2],
    });
    // The tool had ended before its packet was at the hub.
    expect(packets.afterTool[1]).toBeGreaterThan(0);
    expect(packets.afterTool[1]).toBeLessThan(1000);
    expect(JSON.parse(details[1]?.json ?? '')).toMatchObject({ payload: { text: 'hello', step: 0 } });
    expect(notes).toEqual([]);
  });

  test('come in the order in which the hub had them, where the recording has another', async () => {
    const run = await sampleRun();
    const recording = { ...run.recording, packets: run.recording.packets.toReversed() };

    const { packets } = await buildRunData({ ...run, recording });

    expect(packets?.from).toEqual([0, 1, 2]);
  });

  test('that no hub timed stand in their order', async () => {
    const run = await sampleRun();
    const untimed = run.recording.packets.map(({ relayed: _relayed, ...entry }) => entry);

    const { packets } = await buildRunData({ ...run, recording: { ...run.recording, packets: untimed } });

    expect(packets).toMatchObject({ isTimed: false, at: [0, 1000, 2000] });
  });

  test.each([
    'json',
    'msgpack',
    'msgpack-records',
    'cbor',
    'protobuf',
    'toon',
    'a2a',
    'mcp',
    'json+zstd+crc32c',
  ])('are byte for byte those of the run with %s, and their parts add up', async (adapter) => {
    const { packets, details, notes } = await dataOf({ adapter });

    for (const [index, bytes] of packets.bytes.entries()) {
      const detail = details[index];
      if (detail?.line == null) throw new Error(`packet ${index} has no line`);
      const { payload, envelope, framing, payload_coding, layers, wire } = detail.line;
      expect(bytesOf(detail)).toHaveLength(bytes - 4);
      expect(payload + envelope + framing + payload_coding + layers).toBe(bytes);
      expect(wire).toBe(bytes);
    }
    expect(notes).toEqual([]);
  });

  test('below layers with keys are those of the codec, and the page says so', async () => {
    const { details, notes, writtenWith } = await dataOf({ adapter: 'json+ed25519+aes-256-gcm+crc32c' });

    expect(writtenWith).toBe('json');
    expect(notes).toEqual([expect.stringContaining('ed25519 and aes-256-gcm and crc32c around these bytes')]);
    for (const detail of Object.values(details)) {
      expect(JSON.parse(bytesOf(detail).toString('utf8'))).toEqual(JSON.parse(detail.json));
      expect(detail.line).toBeNull();
    }
  });

  test.each(['anp', 'anp-e2ee'])('of %s are written with new keys, and the page says so', async (adapter) => {
    const { details, notes } = await dataOf({ adapter });

    expect(notes).toEqual([expect.stringContaining(`The keys of ${adapter} ended with the run`)]);
    for (const detail of Object.values(details)) {
      expect(bytesOf(detail).length).toBeGreaterThan(500);
      expect(detail.line).toBeNull();
    }
  });

  test('of an adapter that this program does not know are shown without bytes, and why', async () => {
    const run = await sampleRun();
    const recording = { ...run.recording, header: { ...run.recording.header, adapter: 'my-own' } };

    const { notes, ...data } = await buildRunData({ ...run, recording });
    const details = parseDetails(data);

    expect(notes).toEqual([expect.stringContaining(`"my-own"`)]);
    expect(details[0]?.blob).toEqual({ fault: expect.stringContaining(adapterNames.join(', ')) });
  });

  test('are bounded: 16 Ki characters as JSON, 4 KiB as bytes, and the page says how much is left', async () => {
    const { details, packets } = await dataOf({ text: 'x'.repeat(100_000) });

    expect(details[1]?.json).toHaveLength(16 * 1024);
    expect(details[1]?.jsonLeft).toBeGreaterThan(80_000);
    const bytes = (packets.bytes[1] ?? 0) - 4;
    expect(details[1]?.blob).toMatchObject({ bytes, left: bytes - 4096 });
  });

  test('have contents for as many as there is room for, and the page says how many', async () => {
    const data = await dataOf({ tasks: 100, text: 'x'.repeat(20_000) });

    const held = data.details.length;
    expect(held).toBeGreaterThan(30);
    expect(held).toBeLessThan(300);
    expect(data.packets.at).toHaveLength(300);
    expect(data.notes).toEqual([
      expect.stringMatching(/^Contents and bytes are those of the first \d+ of 300 packets/),
    ]);
    expect(JSON.stringify(data).length).toBeLessThan(7_000_000);
  });
});
