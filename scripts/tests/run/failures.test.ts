import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Packet } from '../../../core/contracts/packet.ts';
import { Cli, isRunning, jsonLines, runCli, takePort, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** A document that no tool has to understand: the agents that answer here are the tests' own. */
function question(folder: string): string[] {
  return ['--document', writtenFile(folder, 'note.txt', 'A short note.'), '--question', 'What is it?'];
}

/** An agent that needs no other in order to answer. */
const alone = { tool: 'reason', subscribes: ['doc_init'] };

function readMetrics(folder: string) {
  return JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8'));
}

describe('an agent that does not come up', () => {
  test('names the port in use and says how to choose others', async () => {
    const taken = await takePort();
    const out = temporaryFolder();
    const team = teamFile({ final: 3, agents: [{ ...alone, id: 3, port: taken.port }] });

    const { code, stderr, stdout } = await runCli(['bench', '--team', team, '--out', out]);
    await taken.free();

    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('agent 3 (reason)');
    expect(stderr).toContain(`port ${taken.port} is in use`);
    expect(stderr).toContain('--port-base N');
    expect(stderr).toContain('--port-base auto');
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('is named with the reason when it ends at its start, and no other is left running', async () => {
    const out = temporaryFolder();
    const agents = [
      { id: 'a', tool: 'search' },
      { ...alone, id: 'b', engine: 'ollama', engine_options: { temperature: 'hot' } },
    ];
    const team = teamFile({ final: 'b', model_host: 'http://127.0.0.1:1/', agents });
    const run = new Cli(['bench', '--team', team, '--out', out, '--port-base', 'auto']);

    const { code, stderr } = await run.ended();

    expect(code).toBe(1);
    expect(stderr).toMatch(/agent b \(reason\) did not come up: .*temperature/);
    for (const { pid } of run.agents()) expect(isRunning(pid)).toBe(false);
  });

  test('is named with its address and how to start it when it should have been started by hand', async () => {
    const nobody = await takePort();
    await nobody.free();
    const team = teamFile({ final: 2, agents: [{ id: 2, tool: 'triple', port: nobody.port }] });

    const { code, stderr } = await runCli([
      'bench',
      '--team',
      team,
      '--external',
      '2',
      '--out',
      temporaryFolder(),
    ]);

    expect(code).toBe(1);
    expect(stderr).toContain(`agent 2 (triple) on 127.0.0.1:${nobody.port}`);
    expect(stderr).toContain(`gaia-mesh agent --id 2 --tool triple --port ${nobody.port}`);
  });

  test('is named when it accepts the connection and never says a word', async () => {
    const mute = await RawAgent.listen({ id: '3', tool: 'reason', isMute: true });
    const team = teamFile({ final: 3, agents: [mute.entry] });

    const { code, stderr } = await runCli([
      'bench',
      '--team',
      team,
      '--external',
      '3',
      '--out',
      temporaryFolder(),
    ]);

    expect(code).toBe(1);
    expect(stderr).toMatch(/agent 3 \(reason\).*no handshake message within/);
  });

  test.each([
    ['tool', { tool: 'search' }, 'the hub has reason, the agent has search'],
    ['node', { node: '4' }, 'the hub has 3, the agent has 4'],
    ['wire', { wire: 99 }, 'the agent has 99'],
    ['adapter', { adapter: 'msgpack' }, 'the hub has json, the agent has msgpack'],
    ['auth', { auth: 'hmac' }, 'GAIA_MESH_SECRET'],
  ])('is refused with both sides’ values when its %s is another', async (key, welcome, message) => {
    const agent = await RawAgent.listen({ id: '3', tool: 'reason', welcome });
    const team = teamFile({ final: 3, agents: [agent.entry] });

    const { code, stderr } = await runCli([
      'bench',
      '--team',
      team,
      '--external',
      '3',
      '--out',
      temporaryFolder(),
    ]);

    expect(code).toBe(1);
    expect(stderr).toContain(`disagree about ${key}`);
    expect(stderr).toContain(message);
  });
});

describe('an agent that dies in the middle of a run', () => {
  test('is named with the end of its log; the run ends at once and is written (MP-77)', async () => {
    const out = temporaryFolder();
    const final = await RawAgent.listen({ id: '3', tool: 'reason', subscribes: ['events'] });
    const agents = [{ id: 0, tool: 'triple' }, { id: 1, tool: 'extract' }, final.entry];
    const team = teamFile({ final: 3, agents });
    const run = new Cli([
      ...['bench', '--team', team, '--external', '3', '--port-base', 'auto', '--out', out],
      ...question(out),
    ]);
    await run.says(/hub +→ all +doc_init/);
    const victim = run.agents().find((agent) => agent.id === '1');
    // Lines of a log are written some together; what was not is lost with the process.
    const log = path.join(out, 'workspaces', '1', 'agent.log');
    await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toContain('"dir"'), 10_000);
    process.kill(victim?.pid ?? 0, 'SIGKILL');

    const { code, stderr, stdout } = await run.ended();

    expect(code).toBe(1);
    expect(stderr).toMatch(
      /agent 1 \(extract\) is gone: it was ended by SIGKILL; the end of its log:\n.*"dir"/,
    );
    expect(stdout).not.toContain('DONE');
    const metrics = readMetrics(out);
    expect(metrics).toMatchObject({ status: 'failed', answer: null, quality_score: null });
    expect(metrics.reason).toContain('agent 1 (extract) is gone');
    expect(metrics.agents.map((agent: { status: string }) => agent.status)).toEqual(['up', 'lost', 'up']);
    expect(existsSync(path.join(out, 'run_artifacts.tar.gz'))).toBe(true);
    expect(jsonLines(path.join(out, 'workspaces', 'hub.log'))).toContainEqual(
      expect.objectContaining({ event: 'agent_died', id: '1', how: expect.stringContaining('SIGKILL') }),
    );
    for (const { pid } of run.agents()) expect(isRunning(pid)).toBe(false);
  });

  test('does not end the run while an answer can still come', async () => {
    const out = temporaryFolder();
    const { promise: asked, resolve } = Promise.withResolvers<Packet>();
    const final = await RawAgent.listen({ id: '3', tool: 'reason', onPacket: resolve });
    const team = teamFile({ final: 3, agents: [{ id: 0, tool: 'triple' }, final.entry] });
    const run = new Cli([
      ...['bench', '--team', team, '--external', '3', '--port-base', 'auto', '--out', out],
      ...question(out),
    ]);
    await run.says(/hub +→ all +doc_init/);
    process.kill(run.agents()[0]?.pid ?? 0, 'SIGKILL');
    await run.says(/agent 0 \(triple\) is gone/);
    final.answer(await asked, 'forty-two');

    const { code, stdout } = await run.ended();

    expect(code).toBe(0);
    expect(stdout).toContain('forty-two');
    expect(readMetrics(out)).toMatchObject({ status: 'answered', answer: 'forty-two' });
  });
});

describe('an agent that misbehaves on the wire', () => {
  /** A hostile agent beside one that answers as soon as the hub has said what the test waits for. */
  async function runBeside(misbehave: (cause: Packet, agent: RawAgent) => void, until: RegExp) {
    const out = temporaryFolder();
    const { promise: asked, resolve } = Promise.withResolvers<Packet>();
    const hostile = await RawAgent.listen({
      id: '0',
      tool: 'search',
      onPacket: (packet, agent) => packet.type === 'doc_init' && misbehave(packet, agent),
    });
    const final = await RawAgent.listen({ id: '3', tool: 'reason', onPacket: resolve });
    const team = teamFile({ final: 3, agents: [hostile.entry, final.entry] });
    const run = new Cli(['bench', '--team', team, '--external', '0,3', '--out', out, ...question(out)]);
    await run.says(until);
    final.answer(await asked, 'still here');
    const { code, stderr } = await run.ended();
    return { code, stderr, metrics: readMetrics(out), received: final.received };
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

    const { code } = await runCli([
      'bench',
      '--team',
      team,
      '--external',
      '3',
      '--out',
      out,
      ...question(out),
    ]);

    expect(code).toBe(0);
    expect(readMetrics(out)).toMatchObject({ answer: 'first', pkt_cnt: 2, ledger: { balanced: true } });
  });
});

describe('a run without an answer', () => {
  test('ends at --timeout with 3; metrics and archive are written (MP-45, MP-60)', async () => {
    const out = temporaryFolder();
    const silent = await RawAgent.listen({ id: '3', tool: 'reason' });
    const team = teamFile({ final: 3, agents: [silent.entry] });

    const { code, stdout, stderr } = await runCli([
      ...['bench', '--team', team, '--external', '3', '--timeout', '0.3', '--out', out],
      ...[...question(out), '--answer', 'a note'],
    ]);

    expect(code).toBe(3);
    expect(stdout).not.toContain('DONE');
    expect(stderr).toMatch(/timeout: no final answer within 0.3 s/);
    expect(readMetrics(out)).toMatchObject({
      status: 'timeout',
      answer: null,
      quality_score: 0,
      exact_match: 0,
      rouge_l: 0,
    });
    expect(existsSync(path.join(out, 'run_artifacts.tar.gz'))).toBe(true);
  });

  test('says what the agent said when its work failed, and exits with 1', async () => {
    const out = temporaryFolder();
    const final = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (cause, agent) =>
        agent.send(cause, { type: 'task_failed', tag: 'task_failed', payload: { message: 'no such luck' } }),
    });
    const team = teamFile({ final: 3, agents: [final.entry] });

    const { code, stderr } = await runCli([
      ...['bench', '--team', team, '--external', '3', '--out', out],
      ...question(out),
    ]);

    expect(code).toBe(1);
    expect(stderr).toContain('no such luck');
    expect(readMetrics(out)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('no such luck'),
    });
  });
});

describe('the folder for the results', () => {
  test('with somebody else’s workspaces/ in it is left alone', async () => {
    const out = temporaryFolder();
    mkdirSync(path.join(out, 'workspaces'));
    const treasure = writtenFile(path.join(out, 'workspaces'), 'thesis.txt', 'ten years of work');

    const { code, stderr } = await runCli(['bench', '--out', out, '--port-base', 'auto']);

    expect(code).toBe(1);
    expect(stderr).toContain('was not made by gaia-mesh');
    expect(stderr).toContain('--out');
    expect(readFileSync(treasure, 'utf8')).toBe('ten years of work');
  });

  test('that cannot be made is named', async () => {
    const file = writtenFile(temporaryFolder(), 'a-file', '');

    const { code, stderr } = await runCli(['bench', '--out', path.join(file, 'out'), '--port-base', 'auto']);

    expect(code).toBe(1);
    expect(stderr).toContain(path.join(file, 'out'));
    expect(stderr).toContain('choose another folder for the results (--out)');
  });
});
