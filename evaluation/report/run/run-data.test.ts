import { describe, expect, test } from 'vitest';
import { sampleRun } from '../testing/sample-archive.ts';
import { buildRunData } from './run-data.ts';

async function dataOf(options: Parameters<typeof sampleRun>[0]) {
  const data = buildRunData(await sampleRun(options));
  if (data.traffic === null) throw new Error('there are no packets');
  return { ...data, traffic: data.traffic };
}

describe('the packets of a run', () => {
  test('say who sent them because of what, when they came, and what ended the task', async () => {
    const { traffic, tasks, details, notes } = await dataOf({});

    expect(tasks).toEqual([{ id: 't-0', question: 'hello' }]);
    expect(traffic).toMatchObject({
      agents: [
        { id: '0', tool: 'hello' },
        { id: '1', tool: 'hello' },
      ],
      packets: [
        { from: 'hub', atMs: 0 },
        { from: '0', atMs: 1, cause: 0, toolMs: 0.1 },
        { from: '1', atMs: 2, cause: 1, toolMs: 0.1, tag: 'final_answer' },
      ],
      isTimed: true,
    });
    // The tool had ended before its packet was at the hub.
    expect(traffic.packets[1]?.afterToolMs).toBeGreaterThan(0);
    expect(traffic.packets[1]?.afterToolMs).toBeLessThan(1);
    expect(JSON.parse(details[1] ?? '')).toMatchObject({ payload: { text: 'hello', step: 0 } });
    expect(notes).toEqual([]);
  });

  test('come in the order in which the hub had them, where the recording has another', async () => {
    const run = await sampleRun();
    const recording = { ...run.recording, packets: run.recording.packets.toReversed() };

    const { traffic } = buildRunData({ ...run, recording });

    expect(traffic?.packets.map(({ from }) => from)).toEqual(['hub', '0', '1']);
  });

  test('that no hub timed stand in their order', async () => {
    const run = await sampleRun();
    const untimed = run.recording.packets.map(({ relayed: _relayed, ...entry }) => entry);

    const { traffic } = buildRunData({ ...run, recording: { ...run.recording, packets: untimed } });

    expect(traffic?.isTimed).toBe(false);
    expect(traffic?.packets.map(({ atMs }) => atMs)).toEqual([0, 1, 2]);
  });

  test('are bounded, and say how much is left', async () => {
    const { details } = await dataOf({ text: 'x'.repeat(100_000) });

    expect(details[1]?.length).toBeLessThan(16 * 1024 + 50);
    expect(details[1]).toMatch(/x \[cut: 8\d{4} more characters\]$/);
  });

  test('have contents for as many as there is room for, and the page says how many', async () => {
    const data = await dataOf({ tasks: 100, text: 'x'.repeat(20_000) });

    const held = data.details.length;
    expect(held).toBeGreaterThan(30);
    expect(held).toBeLessThan(300);
    expect(data.traffic.packets).toHaveLength(300);
    expect(data.notes).toEqual([
      expect.stringMatching(/^Contents are those of the first \d+ of 300 packets/),
    ]);
    expect(JSON.stringify(data).length).toBeLessThan(7_000_000);
  });
});
