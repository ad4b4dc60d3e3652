import { describe, expect, test } from 'vitest';
import { sampleRun } from '../testing/sample-archive.ts';
import { buildLinksView } from './links-view.ts';

describe('the links of a run', () => {
  test('hold every byte that was delivered, from sender to receiver', async () => {
    const run = await sampleRun({ tasks: 3 });
    const view = buildLinksView(run);
    const [opened, bytes] = [true, false].map((isDocument) =>
      run.recording.packets
        .filter(({ cause }) => (cause === null) === isDocument)
        .reduce((sum, { relayed }) => sum + (relayed?.bytes ?? 0), 0),
    );

    expect(view?.links.map(({ from, to, packets }) => [from, to, packets])).toEqual([
      ['hub', '0', 3],
      ['hub', '1', 3],
      ['0', '1', 3],
      ['1', '0', 3],
    ]);
    expect(view?.links.reduce((sum, link) => sum + link.bytes, 0)).toBe((bytes ?? 0) + 2 * (opened ?? 0));
  });

  test('of addressed packets lead to the addressee alone, where the routing is direct', async () => {
    const run = await sampleRun();
    const packets = run.recording.packets.map((entry) =>
      entry.cause === null ? entry : { ...entry, packet: { ...entry.packet, to: '1' } },
    );
    const header = { ...run.recording.header, routing: 'direct' as const };

    const view = buildLinksView({ ...run, recording: { header, packets } });

    expect(view?.links.some(({ to, from }) => to === '0' && from !== 'hub')).toBe(false);
  });

  test('of packets that no hub relayed are none', async () => {
    const run = await sampleRun();
    const packets = run.recording.packets.map(({ relayed: _relayed, ...entry }) => entry);

    expect(buildLinksView({ ...run, recording: { ...run.recording, packets } })).toBeNull();
  });

  test('show the 24 busiest nodes of a large team', async () => {
    const run = await sampleRun();
    const agents = Array.from({ length: 100 }, (_, i) => ({ id: String(i), tool: 'triple' }));
    const recording = { ...run.recording, header: { ...run.recording.header, agents } };
    const view = buildLinksView({ ...run, recording });

    expect(view?.nodes).toHaveLength(24);
    expect(view?.nodesLeft).toBe(77);
    expect(view?.nodes.slice(0, 3).map(({ id }) => id)).toEqual(['hub', '0', '1']);
  });
});
