import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, entry, isRunning, jsonLines, takePort, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { noteQuestion, teamFile, writtenFile } from '../../testing/team-file.ts';

/** An agent that needs no other in order to answer. */
const alone = { tool: 'reason', subscribes: ['doc_init'] };

/** A run whose agent `external` is not started by it. */
const benchWith = (team: string, external: string) =>
  callCli(['bench', '--team', team, '--external', external, '--out', temporaryFolder()]);

describe('an agent that does not come up', () => {
  test('names the port in use and says how to choose others', async () => {
    const taken = await takePort();
    const out = temporaryFolder();
    const team = teamFile({ final: 3, agents: [{ ...alone, id: 3, port: taken.port }] });

    const { code, stderr, stdout } = await callCli(['bench', '--team', team, '--out', out]);
    await taken.free();

    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('agent 3 (reason)');
    expect(stderr).toContain(`port ${taken.port} is in use`);
    expect(stderr).toContain('--port-base N');
    expect(stderr).toContain('--port-base auto');
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.runIf(process.platform === 'linux')('for want of file descriptors is a sentence', () => {
    const args = ['bench', '--port-base', 'auto', '--out', temporaryFolder()];
    const limited = 'ulimit -n 30; exec "$0" "$@"';
    const { status, stderr } = spawnSync('/bin/sh', ['-c', limited, process.execPath, entry, ...args], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/too many files are open: raise the limit \(ulimit -n\)/);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test('is named with the reason when it ends at its start, and no other is left running', async () => {
    const out = temporaryFolder();
    const server = createServer((_request, response) => response.writeHead(404).end());
    onTestFinished(() => void server.close());
    const port = await listenOnPlace(server, { port: 0 });
    const agents = [
      { id: 'a', tool: 'search' },
      { ...alone, id: 'b', engine_options: { temperature: 'hot' } },
    ];
    const model = { engine: 'ollama', model: 'm', model_host: `http://127.0.0.1:${port}` };
    const team = teamFile({ final: 'b', ...model, agents });
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

    const { code, stderr } = await benchWith(team, '2');

    expect(code).toBe(1);
    expect(stderr).toContain(`agent 2 (triple) on 127.0.0.1:${nobody.port}`);
    expect(stderr).toContain(`run agent -- --id 2 --tool triple --port ${nobody.port}`);
  });

  test.each([
    ['tool', { tool: 'search' }, 'the hub has reason, the agent has search'],
    ['adapter', { adapter: 'msgpack' }, 'the hub has json, the agent has msgpack'],
  ])('is refused with both sides’ values when its %s is another', async (key, welcome, message) => {
    const agent = await RawAgent.listen({ id: '3', tool: 'reason', welcome });
    const team = teamFile({ final: 3, agents: [agent.entry] });

    const { code, stderr } = await benchWith(team, '3');

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
      ...noteQuestion(out),
    ]);
    await run.says(/hub +→ all +doc_init/);
    const victim = run.agents().find((agent) => agent.id === '1');
    // Lines of a log are written some together; what was not is lost with the process.
    const log = path.join(out, 'workspaces', '1', 'agent.log');
    await vi.waitFor(() => expect(readFileSync(log, 'utf8')).toContain('"dir"'), 60_000);
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
      ...noteQuestion(out),
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

describe('a run without an answer', () => {
  test('ends at --timeout with 3; metrics and archive are written (MP-45, MP-60)', async () => {
    const out = temporaryFolder();
    const silent = await RawAgent.listen({ id: '3', tool: 'reason' });
    const team = teamFile({ final: 3, agents: [silent.entry] });

    const { code, stdout, stderr } = await callCli([
      ...['bench', '--team', team, '--external', '3', '--timeout', '0.3', '--out', out],
      ...[...noteQuestion(out), '--answer', 'a note'],
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

    const { code, stderr } = await callCli([
      ...['bench', '--team', team, '--external', '3', '--out', out],
      ...noteQuestion(out),
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

    const { code, stderr } = await callCli(['bench', '--out', out, '--port-base', 'auto']);

    expect(code).toBe(1);
    expect(stderr).toContain('was not made by gaia-mesh');
    expect(stderr).toContain('--out');
    expect(readFileSync(treasure, 'utf8')).toBe('ten years of work');
  });

  test('that cannot be made is named', async () => {
    const file = writtenFile(temporaryFolder(), 'a-file', '');

    const { code, stderr } = await callCli(['bench', '--out', path.join(file, 'out'), '--port-base', 'auto']);

    expect(code).toBe(2);
    expect(stderr).toContain(path.join(file, 'out'));
    expect(stderr).toContain(`${file} is a file, and no folder can be made in it`);
  });
});
