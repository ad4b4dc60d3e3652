import { describe, expect, test } from 'vitest';
import { sampleRun } from '../testing/sample-archive.ts';
import { linksView } from './links-view.ts';

describe('the links of a run', () => {
  test('hold every byte that was delivered, from sender to receiver', async () => {
    const run = await sampleRun({ tasks: 3 });
    const view = linksView(run);
    const bytes = [...run.log.sent.values()].reduce((sum, packet) => sum + packet.bytes, 0);
    const opened = [...run.log.openings.values()].reduce((sum, packet) => sum + packet.bytes, 0);

    expect(view?.links.map(({ from, to, packets }) => [from, to, packets])).toEqual([
      ['hub', '0', 3],
      ['hub', '1', 3],
      ['0', '1', 3],
      ['1', '0', 3],
    ]);
    expect(view?.links.reduce((sum, link) => sum + link.bytes, 0)).toBe(bytes + 2 * opened);
  });

  test('of addressed packets lead to the addressee alone, where the routing is direct', async () => {
    const run = await sampleRun();
    const sent = new Map(
      [...run.log.sent].map(([id, entry]) => [id, { ...entry, packet: { ...entry.packet, to: '1' } }]),
    );
    const header = { ...run.recording.header, routing: 'direct' as const };

    const view = linksView({ ...run, recording: { ...run.recording, header }, log: { ...run.log, sent } });

    expect(view?.links.some(({ to, from }) => to === '0' && from !== 'hub')).toBe(false);
  });

  test('lead to one copy of an agent that has several, the one that had the task', async () => {
    const run = await sampleRun({ tasks: 3 });
    const agents = [...run.recording.header.agents, { id: '1~2', tool: 'triple' }];
    const header = { ...run.recording.header, agents };

    const view = linksView({ ...run, recording: { ...run.recording, header } });

    expect(view?.links.map(({ from, to, packets }) => [from, to, packets])).toEqual([
      ['hub', '0', 3],
      ['hub', '1', 3],
      ['0', '1', 3],
      ['1', '0', 3],
    ]);
  });

  test('of a packet that the hub did not relay are none', async () => {
    const run = await sampleRun();
    const view = linksView({ ...run, log: { ...run.log, relays: new Map() } });

    expect(view?.links.every(({ from }) => from === 'hub')).toBe(true);
  });

  test('show the 24 busiest nodes of a large team', async () => {
    const run = await sampleRun();
    const agents = Array.from({ length: 100 }, (_, i) => ({ id: String(i), tool: 'triple' }));
    const recording = { ...run.recording, header: { ...run.recording.header, agents } };
    const view = linksView({ ...run, recording });

    expect(view?.nodes).toHaveLength(24);
    expect(view?.nodesLeft).toBe(77);
    expect(view?.nodes.slice(0, 3).map(({ id }) => id)).toEqual(['hub', '0', '1']);
  });
});
