import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, entry, jsonLines, takePort, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** An agent in a terminal of its own, in a folder of its own. It is a `triple`, which none of these runs gives work. */
async function agentByHand(args: readonly string[] = [], env: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  const agent = new Cli(
    ['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--workspace', '2', ...args],
    { cwd, env },
  );
  onTestFinished(() => agent.signal('SIGKILL'));
  const [, port] = await agent.says(/listens on 127\.0\.0\.1:(\d+)/);
  return { agent, port: Number(port), workspace: path.join(cwd, '2') };
}

/** A run with that agent and one of the test's own, which answers at once and knows no secret. */
async function benchWith(port: number, options: { env?: Record<string, string>; args?: string[] } = {}) {
  const out = temporaryFolder();
  const final = await RawAgent.listen({
    id: '3',
    tool: 'reason',
    onPacket: (packet, self) => self.answer(packet, 'yes'),
  });
  const team = teamFile({ final: 3, agents: [{ id: 2, tool: 'triple', port }, final.entry] });
  const document = writtenFile(temporaryFolder(), 'note.txt', 'A short note.');
  const result = await callCli(
    [
      ...['bench', '--team', team, '--external', '2,3', '--document', document, '--question', 'Is it?'],
      ...['--out', out, ...(options.args ?? [])],
    ],
    { env: options.env ?? {} },
  );
  return { ...result, out };
}

/** The same with a secret: the other agent of the run is launched, for it must know the secret, too. */
async function secretBenchWith(port: number, env: Record<string, string>) {
  const out = temporaryFolder();
  const team = teamFile({
    final: 3,
    agents: [
      { id: 2, tool: 'triple', port },
      { id: 3, tool: 'reason' },
    ],
  });
  const args = [
    'bench',
    '--team',
    team,
    '--external',
    '2',
    '--port-base',
    'auto',
    '--timeout',
    '0.2',
    '--out',
    out,
  ];
  return { ...(await callCli(args, { env })), out };
}

describe('an agent that was started by hand', () => {
  test('listens on the loopback address alone and says so (MP-04, MP-10)', async () => {
    const { agent, port } = await agentByHand();

    expect(agent.stderr).toContain(`agent 2 (triple) listens on 127.0.0.1:${port}`);
    await agent.says(/GAIA_MESH_SECRET is not set/);
    await expect(takePort(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    // Another address of this machine is free: the agent did not take the port on all of them.
    const server = net.createServer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen({ host: '127.0.0.2', port }, resolve);
    if (process.platform === 'linux') await promise;
    else promise.catch(() => undefined);
    server.close();
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('ends with 0 at %s and frees its port', async (signal) => {
    const { agent, port } = await agentByHand();
    agent.signal(signal);

    expect(await agent.ended()).toMatchObject({ code: 0, signal: null });
    await (await takePort(port)).free();
  });

  test('names the port that is in use', async () => {
    const taken = await takePort();

    const { code, stderr } = await callCli([
      'agent',
      '--id',
      '2',
      '--tool',
      'triple',
      '--port',
      String(taken.port),
    ]);
    await taken.free();

    expect(code).toBe(1);
    expect(stderr).toBe(
      `gaia-mesh: cannot listen on 127.0.0.1:${taken.port}: port ${taken.port} is in use; choose another --port\n`,
    );
  });

  test('serves one run after the other, and keeps the log of the last alone (MP-55)', async () => {
    const { agent, port, workspace } = await agentByHand();

    const first = await benchWith(port);
    const second = await benchWith(port);

    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('doc_init')]);
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining('doc_init')]);
    for (const { out } of [first, second]) {
      expect(readMetrics(out)).toMatchObject({ answer: 'yes', ledger: { balanced: true } });
      expect(readMetrics(out).agents[0]).toMatchObject({
        id: '2',
        tool: 'triple',
        status: 'up',
        packets_tx: 2,
      });
    }
    // It is a process of its own: the run does not wait until it has written its last lines.
    const logged = () => jsonLines(path.join(workspace, 'agent.log'));
    await expect.poll(() => logged().filter((line) => 'ended' in line)).toHaveLength(1);
    const log = logged();
    // Of the first run its own archive has the log.
    expect(log.flatMap((line) => (line.began === undefined ? [] : [line.began]))).toEqual([
      readMetrics(second.out).run_id,
    ]);
    // It heard the answer, which was not for its tool, and did nothing about it.
    expect(log.filter((line) => line.dir === 'received').map((line) => line.type)).toEqual([
      ...['doc_init', 'data_event'],
    ]);
    expect(log.some((line) => line.dir === 'sent')).toBe(false);
    expect(agent.stderr).not.toContain('Error');
  });

  test('works for a run that shares its secret', async () => {
    const env = { GAIA_MESH_SECRET: 'correct horse battery staple' };
    const { agent, port } = await agentByHand([], env);

    const { code, stderr, out } = await secretBenchWith(port, env);

    expect(agent.stderr).not.toContain('GAIA_MESH_SECRET');
    expect([code, stderr]).toEqual([3, expect.stringContaining('doc_init')]);
    expect(readMetrics(out)).toMatchObject({ status: 'timeout', ledger: { balanced: true } });
  });

  test('refuses a run with another secret, and both sides say why', async () => {
    const { port, workspace } = await agentByHand([], { GAIA_MESH_SECRET: 'hunter-one, 16 letters long' });

    const { code, stderr } = await secretBenchWith(port, { GAIA_MESH_SECRET: 'hunter-two, 16 letters long' });

    expect(code).toBe(1);
    expect(stderr).toContain(`agent 2 (triple) on 127.0.0.1:${port}`);
    expect(stderr).toContain('GAIA_MESH_SECRET differs');
    // The agent writes its log behind; the run does not wait for it.
    await expect
      .poll(() => jsonLines(path.join(workspace, 'agent.log')))
      .toContainEqual(
        expect.objectContaining({ dir: 'session', refused: expect.stringContaining('GAIA_MESH_SECRET') }),
      );
    expect(stderr).not.toContain('hunter');
  });

  test('is another run’s while that one is on, and says so', async () => {
    const { port } = await agentByHand();
    const out = temporaryFolder();
    const silent = await RawAgent.listen({ id: '3', tool: 'reason' });
    const team = teamFile({ final: 3, agents: [{ id: 2, tool: 'triple', port }, silent.entry] });
    const first = new Cli(['bench', '--team', team, '--external', '2,3', '--out', out]);
    await first.says(/hub +→ all +doc_init/);

    const second = await benchWith(port);

    expect(second.code).toBe(1);
    expect(second.stderr).toContain('already works for another hub');
    first.signal('SIGINT');
    expect((await first.ended()).code).toBe(130);
  });

  test('lets no number of strangers keep the hub out, whatever they say', async () => {
    const env = { GAIA_MESH_SECRET: 'correct horse battery staple' };
    const { port } = await agentByHand([], env);
    const hello = { kind: 'hello', wire: 1, run: 'r', node: '*', tool: '*', adapter: 'json', auth: 'hmac' };
    const strangers = new Set<net.Socket>();
    const connect = () => {
      const socket = net.connect({ host: '127.0.0.1', port });
      strangers.add(socket);
      socket.on('error', () => undefined).on('close', () => strangers.delete(socket));
      const ticket = '0'.repeat(64);
      socket.write(encodeFrame(Buffer.from(JSON.stringify({ ...hello, nonce: ticket, ticket }))));
    };
    for (let i = 0; i < 100; i++) connect();
    const flood = setInterval(connect, 5);

    const { stderr, out } = await secretBenchWith(port, env);

    clearInterval(flood);
    for (const socket of strangers) socket.destroy();
    expect(stderr).toContain('doc_init');
    expect(readMetrics(out)).toMatchObject({ ledger: { balanced: true } });
  });

  test('outlives a stranger who connects and talks nonsense', async () => {
    const { port } = await agentByHand();
    for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\u0000\u0000\u0000\u0002hi']) {
      const socket = net.connect({ host: '127.0.0.1', port });
      socket.write(bytes, 'latin1');
      await new Promise((resolve) => socket.once('close', resolve).once('error', resolve).resume());
    }

    const { code } = await benchWith(port);

    expect(code).toBe(0);
  });
});

test.each(['--nats-url', '--nats-subject'])('%s goes with --transport nats', async (option) => {
  const args = ['agent', '--id', '2', '--tool', 'triple', '--port', '0', option, 'nats://127.0.0.1:1'];
  const { code, stderr } = await callCli(args, { cwd: temporaryFolder() });

  expect(code).toBe(2);
  expect(stderr).toContain(`${option} has no effect alone: it goes with --transport nats`);
});

test('an agent whose launcher is killed before it is up ends, and says nothing', async () => {
  const child = spawn(process.execPath, [entry, 'agent'], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    said += String(bytes);
  });
  const engine = { name: 'extractive' };
  child.send({ id: '2', tool: 'triple', place: { port: 0 }, workspace: temporaryFolder(), engine }, () =>
    child.disconnect(),
  );
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(said).toBe('');
});
