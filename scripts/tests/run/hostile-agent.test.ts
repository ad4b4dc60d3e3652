import { MAX_PACKET_TYPES } from '@gaia-mesh/core/contracts/limits.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { noteQuestion, teamFile } from '../../testing/team-file.ts';

describe('an agent that misbehaves on the wire', () => {
  /** A hostile agent beside one that answers as soon as the hub has said what the test waits for. */
  async function runBeside(
    misbehave: (cause: Packet, agent: RawAgent) => void,
    until: RegExp,
    rights: { readonly may_fail?: boolean } = {},
  ) {
    const out = temporaryFolder();
    const { promise: asked, resolve } = Promise.withResolvers<Packet>();
    const hostile = await RawAgent.listen({
      id: '0',
      tool: 'search',
      onPacket: (packet, agent) => packet.type === 'doc_init' && misbehave(packet, agent),
    });
    const final = await RawAgent.listen({ id: '3', tool: 'reason', onPacket: resolve });
    const team = teamFile({ final: 3, agents: [{ ...hostile.entry, ...rights }, final.entry] });
    const run = new Cli(['bench', '--team', team, '--external', '0,3', '--out', out, ...noteQuestion(out)]);
    await run.says(until);
    final.answer(await asked, 'still here');
    const { code, stdout, stderr } = await run.ended();
    return { code, stdout, stderr, metrics: readMetrics(out), received: final.received };
  }

  test('a blob that does not decode is dropped and counted; its link stays and the run goes on', async () => {
    const { code, metrics, received } = await runBeside(
      (_cause, agent) => agent.sendBlob(Buffer.from('\u0000 not a packet')),
      /refused from 0: /,
    );

    expect(code).toBe(0);
    expect(metrics).toMatchObject({ status: 'answered', answer: 'still here', refused_packets: 1 });
    expect(metrics.agents[0]).toMatchObject({ id: '0', status: 'up', refused: 1, packets_rx: 0 });
    expect(received.map((packet) => packet.type)).toEqual(['doc_init']);
    expect(metrics.ledger.read.refused).toBe(4 + '\u0000 not a packet'.length);
  });

  test('a packet under another agent’s name is dropped and counted', async () => {
    const { code, stderr, metrics, received } = await runBeside(
      (cause, agent) => agent.send(cause, { type: 'search_docs', from: '3', payload: {} }),
      /refused from 0: .*from 3/,
    );

    expect(code).toBe(0);
    expect(stderr).toContain('refused from 0');
    expect(metrics).toMatchObject({ answer: 'still here', refused_packets: 1 });
    expect(metrics.ledger).toMatchObject({ balanced: true });
    expect(received.map((packet) => packet.type)).toEqual(['doc_init']);
  });

  test('a final answer of an agent that is not the team’s final one is dropped and counted', async () => {
    const { code, metrics } = await runBeside(
      (cause, agent) => agent.answer(cause, 'mine'),
      /refused from 0: .*final answer/,
    );

    expect(code).toBe(0);
    expect(metrics).toMatchObject({ answer: 'still here', refused_packets: 1 });
  });

  test('types that it invents without end share a line, in a bounded table', async () => {
    const invented = 5000;
    const { code, stdout, metrics } = await runBeside((cause, agent) => {
      for (let i = 0; i < invented; i++) agent.send(cause, { type: `note-${i}`, payload: {} });
      agent.send(cause, { type: 'note', from: '3', payload: {} });
    }, /refused from 0: /);

    expect(code).toBe(0);
    const types = Object.values(metrics.packet_types);
    expect(types).toHaveLength(MAX_PACKET_TYPES + 1);
    expect(types.reduce((sum, { packets }) => sum + packets, 0)).toBe(metrics.pkt_cnt);
    expect(metrics.packet_types['(others)']?.packets).toBe(metrics.pkt_cnt - MAX_PACKET_TYPES);
    expect(Object.keys(metrics.ledger.types).length).toBeLessThanOrEqual(MAX_PACKET_TYPES + 1);
    expect(metrics.hops.length).toBeLessThanOrEqual(MAX_PACKET_TYPES + 1);
    expect(metrics.ledger).toMatchObject({ balanced: true });
    expect(stdout.split('\n').length).toBeLessThan(100);
  });

  test('what is refused without end is told by sample, and counted', async () => {
    const refused = 5000;
    const { code, stderr, metrics } = await runBeside((cause, agent) => {
      for (let i = 0; i < refused; i++) agent.sendBlob(Buffer.from('nothing'));
      agent.send(cause, { type: 'note', payload: {} });
    }, /refused from 0: /);

    expect(code).toBe(0);
    expect(metrics.refused_packets).toBe(refused);
    expect(stderr.match(/refused from 0/g)?.length).toBeLessThan(40);
  });

  test('an agent that may not fail ends no task by saying that it failed', async () => {
    const { code, metrics } = await runBeside(
      (cause, agent) =>
        agent.send(cause, { type: 'task_failed', tag: 'task_failed', payload: { message: 'so there' } }),
      /refused from 0: .*may_fail/,
      { may_fail: false },
    );

    expect(code).toBe(0);
    expect(metrics).toMatchObject({ answer: 'still here', refused_packets: 1 });
  });

  test('an over-long frame closes the connection before memory is taken, and is counted', async () => {
    const { code, stderr, metrics } = await runBeside(
      (_cause, agent) => agent.sendBytes(Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3])),
      /agent 0 \(search\) is gone/,
    );

    expect(code).toBe(0);
    expect(stderr).toMatch(/agent 0 \(search\) is gone: frame of 4294967295 bytes: at most \d+/);
    expect(metrics).toMatchObject({ status: 'answered', answer: 'still here' });
    expect(metrics.agents[0]).toMatchObject({ id: '0', status: 'lost' });
    expect(metrics.ledger.read.torn).toBe(7);
    expect(metrics.ledger.read.sockets).toBe(
      metrics.ledger.read.packets + metrics.ledger.read.session + metrics.ledger.read.refused + 7,
    );
  });

  test('a torn frame is named and counted', async () => {
    const { code, stderr, metrics } = await runBeside((_cause, agent) => {
      agent.sendBytes(Buffer.from([0, 0, 0, 100, 1, 2]));
      agent.hangUp();
    }, /agent 0 \(search\) is gone/);

    expect(code).toBe(0);
    expect(stderr).toContain('torn frame');
    expect(metrics.agents[0]).toMatchObject({ id: '0', status: 'lost' });
    expect(metrics.ledger.read.torn).toBe(6);
  });

  test('a second final answer changes nothing', async () => {
    const out = temporaryFolder();
    const final = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (cause, agent) => {
        agent.answer(cause, 'first');
        agent.answer(cause, 'second');
      },
    });
    const team = teamFile({ final: 3, agents: [final.entry] });

    const { code } = await callCli([
      'bench',
      '--team',
      team,
      '--external',
      '3',
      '--out',
      out,
      ...noteQuestion(out),
    ]);

    expect(code).toBe(0);
    expect(readMetrics(out)).toMatchObject({ answer: 'first', pkt_cnt: 2, ledger: { balanced: true } });
  });
});
