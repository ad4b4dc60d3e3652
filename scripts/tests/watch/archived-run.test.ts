import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseRunEvent, type RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { openArchivedRun } from '@gaia-mesh/evaluation/watch/archived-run.ts';
import type { WatchedRun } from '@gaia-mesh/evaluation/watch/watched-run.ts';
import { beforeAll, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';

const folder = temporaryFolder();
let run: WatchedRun;
let events: RunEvent[];

beforeAll(async () => {
  const { code } = await callCli(['bench', '--out', 'out', '--quiet', '--port-base', 'auto'], {
    cwd: folder,
  });
  expect(code).toBe(0);
  run = await openArchivedRun(path.join(folder, 'out', 'run_artifacts.tar.gz'));
  events = run.feed
    .from(1, Number.MAX_SAFE_INTEGER)
    .texts.flatMap((text) => parseRunEvent(JSON.parse(text)) ?? []);
  expect(events).toHaveLength(run.feed.last);
});

test('a run that is over is told in the same events, in order, with its exact counts', () => {
  const metrics = JSON.parse(readFileSync(path.join(folder, 'out', 'metrics.json'), 'utf8'));
  const { total } = metrics.ledger;

  expect(events[0]).toMatchObject({
    event: 'run_began',
    run_id: metrics.run_id,
    team: 'pipeline',
    questions: 1,
  });
  expect(events.map(({ time }) => time)).toEqual(events.map(({ time }) => time).sort((a, b) => a - b));
  expect(events.findLast(({ event }) => event === 'totals')).toMatchObject({
    packets: metrics.pkt_cnt,
    bytes: metrics.bytes_rx,
    tokens: metrics.token_sum,
    unshown: 0,
  });
  const packets = events.filter(({ event }) => event === 'packet' || event === 'broadcast');
  expect(packets).toHaveLength(total.packets);
  expect(events.filter(({ event }) => event === 'agent_up')).toHaveLength(4);
  expect(events.findLast(({ event }) => event === 'task_ended')).toMatchObject({
    status: 'answered',
    answer: metrics.answer,
    normalized_em: metrics.normalized_em,
  });
  expect(events.at(-1)).toMatchObject({ event: 'stream_ended', text: 'answered' });
});

test('what it says can be opened: logs, and packets with their payload', async () => {
  const packet = events.findLast((event) => event.event === 'packet');
  if (packet === undefined) throw new Error('there is no packet');

  expect((await run.details.log('', '0'))?.text).toContain('"dir":"sent"');
  expect((await run.details.log('', 'hub'))?.text).toContain('"event":"run_ended"');
  expect(JSON.parse((await run.details.packet('', packet.from, packet.id)) ?? '')).toMatchObject({
    packet: { id: packet.id, payload: { answer: expect.any(String) } },
  });
  expect((await run.report())?.runs).toHaveLength(1);
});

test.each(['../hub', '..', '/etc/passwd', '0/../0', 'hub.log', '', '\0'])(
  'a name that is none of its agents (%j) leads nowhere',
  async (name) => {
    expect(await run.details.log('', name)).toBeUndefined();
    expect(await run.details.packet('', name, 'no such packet')).toBeUndefined();
  },
);
