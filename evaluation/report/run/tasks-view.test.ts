import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { describe, expect, test } from 'vitest';
import { sampleRun } from '../testing/sample-archive.ts';
import type { PacketView } from './packet-view.ts';
import { buildTasksView } from './tasks-view.ts';

async function viewOf(options: Parameters<typeof sampleRun>[0]) {
  const view = await buildTasksView(await sampleRun(options));
  if (view === null) throw new Error('there are no packets');
  return view;
}

function bytesOf({ blob }: PacketView): Buffer {
  if ('fault' in blob) throw new Error(blob.fault);
  return Buffer.from(blob.base64, 'base64');
}

describe('the packets of a task', () => {
  test('say who took them up, when they came, and what they are', async () => {
    const { tasks, notes } = await viewOf({});
    const [task] = tasks;

    expect(task).toMatchObject({
      id: 't-0',
      question: 'hello',
      ending: '“hello” in 2.00\u00a0ms',
      packetsLeft: 0,
    });
    expect(task?.packets.map(({ id, atMs, takenUpBy, cause }) => ({ id, atMs, takenUpBy, cause }))).toEqual([
      { id: 'hub-0', atMs: 0, takenUpBy: ['0'], cause: null },
      { id: '0-0-0', atMs: 1, takenUpBy: ['1'], cause: 'hub-0' },
      { id: '1-0', atMs: 2, takenUpBy: [], cause: '0-0-0' },
    ]);
    expect(JSON.parse(task?.packets[1]?.json ?? '')).toMatchObject({ payload: { text: 'hello', step: 0 } });
    expect(notes).toEqual([]);
  });

  test('come in the order in which the hub had them, where the recording has another', async () => {
    const run = await sampleRun();
    const { packets } = run.recording;
    const recording = { ...run.recording, packets: packets.toReversed() };

    const view = await buildTasksView({ ...run, recording });

    expect(view?.tasks[0]?.packets.map(({ id }) => id)).toEqual(['hub-0', '0-0-0', '1-0']);
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
    const { tasks, notes } = await viewOf({ adapter });

    for (const packet of tasks[0]?.packets ?? []) {
      expect(bytesOf(packet)).toHaveLength((packet.bytes ?? 0) - 4);
      expect(packet.waterfall?.steps.at(-1)?.to).toBe(packet.bytes);
    }
    expect(notes).toEqual([]);
  });

  test('below layers with keys are those of the codec, and the page says so', async () => {
    const { tasks, notes, writtenWith } = await viewOf({ adapter: 'json+ed25519+aes-256-gcm+crc32c' });

    expect(writtenWith).toBe('json');
    expect(notes).toEqual([expect.stringContaining('ed25519 and aes-256-gcm and crc32c around these bytes')]);
    for (const packet of tasks[0]?.packets ?? []) {
      expect(JSON.parse(bytesOf(packet).toString('utf8'))).toEqual(JSON.parse(packet.json));
      expect(packet.waterfall).toBeNull();
    }
  });

  test.each(['anp', 'anp-e2ee'])('of %s are written with new keys, and the page says so', async (adapter) => {
    const { tasks, notes } = await viewOf({ adapter });

    expect(notes).toEqual([expect.stringContaining(`The keys of ${adapter} ended with the run`)]);
    for (const packet of tasks[0]?.packets ?? []) {
      expect(bytesOf(packet).length).toBeGreaterThan(500);
      expect(packet.waterfall).toBeNull();
    }
  });

  test('of an adapter that this program does not know are shown without bytes, and why', async () => {
    const run = await sampleRun();
    const recording = { ...run.recording, header: { ...run.recording.header, adapter: 'my-own' } };

    const view = await buildTasksView({ ...run, recording });

    expect(view?.notes).toEqual([expect.stringContaining(`"my-own"`)]);
    expect(view?.tasks[0]?.packets[0]?.blob).toEqual({
      fault: expect.stringContaining(adapterNames.join(', ')),
    });
  });

  test('are bounded: 16 Ki characters as JSON, 4 KiB as bytes, and the page says how much is left', async () => {
    const { tasks } = await viewOf({ text: 'x'.repeat(100_000) });
    const [, packet] = tasks[0]?.packets ?? [];

    expect(packet?.json).toHaveLength(16 * 1024);
    expect(packet?.jsonLeft).toBeGreaterThan(80_000);
    expect(packet?.blob).toMatchObject({
      bytes: (packet?.bytes ?? 0) - 4,
      left: (packet?.bytes ?? 0) - 4 - 4096,
    });
  });

  test('show what cannot be seen', async () => {
    const { tasks } = await viewOf({ text: 'a\u202eb\u200b\u2028c' });

    expect(tasks[0]?.packets[0]?.json).toContain('a\\u202eb\\u200b\\u2028c');
    expect(JSON.parse(tasks[0]?.packets[0]?.json ?? '')).toMatchObject({
      payload: { question: 'a\u202eb\u200b\u2028c' },
    });
  });
});

describe('the tasks of a page', () => {
  test.each([
    [200, 200, []],
    [201, 200, ['The page holds the packets of the first 200 of 201\u00a0tasks; the archive has them all.']],
  ])('of %i are %i', async (tasks, shown, notes) => {
    const view = await viewOf({ tasks });

    expect(view.tasks).toHaveLength(shown);
    expect(view.notes).toEqual(notes);
  });

  test('end where they have too many characters', async () => {
    const view = await viewOf({ tasks: 100, text: 'x'.repeat(20_000) });

    expect(view.tasks.length).toBeGreaterThan(10);
    expect(view.tasks.length).toBeLessThan(100);
    expect(JSON.stringify(view).length).toBeLessThan(5_000_000);
  });

  test('have at most 200 packets each', async () => {
    const view = await viewOf({ steps: 300 });

    expect(view.tasks[0]?.packets).toHaveLength(200);
    expect(view.notes).toEqual(['102\u00a0packets beyond the first 200 of a task are left out.']);
  });
});
