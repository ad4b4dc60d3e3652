import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { needNatsServer, realServer } from '@gaia-mesh/core/transports/nats/testing/real-server.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, isRunning, temporaryFolder } from '../../testing/cli.ts';
import { metricsOf, runBench } from '../../testing/nats-runs.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

needNatsServer();

/** A team that waits for its extractor for ever, so that something can happen to it. */
function waitingTeam(): string {
  const agents = [
    { id: 0, tool: 'triple' },
    { id: 1, tool: 'extract' },
    { id: 3, tool: 'reason' },
  ];
  return teamFile({ final: 3, agents });
}

/** An extractor that comes to no end. */
const ENDLESS = `export const endless = {
  name: 'endless', description: '', accepts: ['doc_init'], emits: ['events'],
  run: (_packet, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  }),
};`;

function waitingRun(url: string, args: readonly string[] = []) {
  const out = temporaryFolder();
  const note = ['--document', writtenFile(out, 'note.txt', 'A short note.'), '--question', 'What is it?'];
  const endless = ['--tool', `extract=${writtenFile(out, 'endless.ts', ENDLESS)}`];
  const options = ['--team', waitingTeam(), '--nats-url', url, '--out', out, ...endless, ...note, ...args];
  return { out, run: new Cli(['bench', ...options]) };
}

describe('a run over NATS', () => {
  test('gives the same answer with the same bytes as over TCP, and its ledger balances', async () => {
    const { url } = await realServer();
    const tcp = await metricsOf([]);
    const nats = await metricsOf(['--transport', 'nats', '--nats-url', url]);

    expect(nats.answer).toBe(tcp.answer);
    expect(nats.answer).not.toBeNull();
    expect(tcp.ledger).not.toHaveProperty('connection');
    expect(nats.ledger.connection?.written).toBeGreaterThan(nats.ledger.written.sockets);
    expect(nats.ledger.connection?.read).toBeGreaterThan(nats.ledger.read.sockets);
    expect(nats.recording).toEqual({ packets: nats.pkt_cnt, missing: [] });
    for (const key of [
      'bytes_tx',
      'bytes_rx',
      'init_bytes',
      'pkt_cnt',
      'header_overhead',
      'token_sum',
    ] as const) {
      expect(nats[key], key).toBe(tcp[key]);
    }
    expect(nats.packet_types).toEqual(tcp.packet_types);
    expect(nats.ledger.types).toEqual(tcp.ledger.types);
    expect(nats.ledger).toMatchObject({ balanced: true, differences: [] });
    expect(nats.ledger.written).toEqual(tcp.ledger.written);
  });

  test('works through an adapter whose members exchange keys, and where every packet is longer than a message may be', async () => {
    const { url } = await realServer({ config: 'max_payload: 1024' });

    const metrics = await metricsOf(['--nats-url', url, '--adapter', 'anp-e2ee']);
    expect(metrics).toMatchObject({ status: 'answered', adapter: 'anp-e2ee', ledger: { balanced: true } });
  });

  test('is what a team file may ask for, and two of them share a server', async () => {
    const { url } = await realServer();
    const agents = [{ id: 0, tool: 'answer_alone' }];
    const team = teamFile({ final: 0, agents, transport: 'nats', nats_url: url, nats_subject: 'lab.mesh' });

    const both = await Promise.all([runBench(['--team', team]), runBench(['--team', team])]);
    for (const { code, stderr, out } of both) {
      expect(code, stderr).toBe(0);
      expect(readMetrics(out).ledger.balanced).toBe(true);
      expect(stderr).toMatch(/agent 0 answer_alone +nats:\S+ as lab\.mesh\.\d{8}-\S+\.0 /);
    }
  });

  test('takes credentials from the environment alone, and writes them nowhere', async () => {
    const { url } = await realServer({ config: 'authorization: { user: gaia, password: "s3cret-word" }' });
    const withCredentials = url.replace('//', '//gaia:s3cret-word@');

    const { code, stderr, stdout, out } = await runBench(['--team', 'single', '--transport', 'nats'], {
      NATS_URL: withCredentials,
    });
    expect(code, stderr).toBe(0);
    const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const texts = files.map((file) => readFileSync(path.join(file.parentPath, file.name), 'latin1'));
    for (const text of [stdout, stderr, ...texts]) expect(text).not.toContain('s3cret-word');
    const archive = path.join(out, 'run_artifacts.tar.gz');
    expect(spawnSync('tar', ['-xzOf', archive], { encoding: 'latin1' }).stdout).not.toContain('s3cret-word');

    const stranger = await runBench(['--nats-url', url]);
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toMatch(/^gaia-mesh: NATS server nats:\S+: .*[Aa]uthorization/m);
    const typed = await runBench(['--nats-url', withCredentials]);
    expect(typed.code).toBe(2);
    expect(typed.stderr).toContain('NATS_URL');
    expect(typed.stderr).not.toContain('s3cret-word');
  });

  test('says how to start a server where there is none', async () => {
    const server = await realServer();
    await server.stop();
    const port = new URL(server.url).port;

    const { code, stderr } = await runBench(['--nats-url', server.url]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `gaia-mesh: no NATS server answers at ${server.url} (connection refused); start one: nats-server -a 127.0.0.1 -p ${port}\n`,
    );
  });

  test.each([
    [['--transport', 'pigeon'], 'Allowed choices are tcp, nats'],
    [['--transport', 'tcp', '--nats-url', 'nats://127.0.0.1:1'], 'go with --transport nats'],
    [['--nats-url', 'http://127.0.0.1:1'], 'expected nats://HOST:PORT'],
    [['--transport', 'nats', '--nats-subject', 'gaia.>'], 'expected words of'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runBench(args);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('when something goes away in the middle of a run over NATS', () => {
  test('an agent that was killed is named, and the run ends at once and is written', async () => {
    const { url } = await realServer();
    const { out, run: running } = waitingRun(url);
    await running.says(/hub +→ all +doc_init/);
    process.kill(running.agents().find(({ id }) => id === '1')?.pid ?? 0, 'SIGKILL');

    const { code, stderr } = await running.ended();
    expect(code).toBe(1);
    expect(stderr).toMatch(/agent 1 \(endless\) is gone: it was ended by SIGKILL/);
    const metrics = readMetrics(out);
    expect(metrics.reason).toContain('agent 1 (endless) is gone');
    expect(metrics.agents.map(({ status }) => status)).toEqual(['up', 'lost', 'up']);
    expect(metrics.ledger.balanced).toBe(true);
    for (const { pid } of running.agents()) expect(isRunning(pid)).toBe(false);
  });

  test('the server’s end is named, the run ends at once, and no process is left', async () => {
    const server = await realServer();
    const { out, run: running } = waitingRun(server.url);
    await running.says(/hub +→ all +doc_init/);
    await server.stop();

    const { code, stderr } = await running.ended();
    expect(code).toBe(1);
    expect(stderr).toContain(`agent 0 (triple) is gone: NATS server ${server.url}: it is gone`);
    expect(readMetrics(out)).toMatchObject({ status: 'failed', answer: null });
    expect(running.agents()).toHaveLength(3);
    for (const { pid } of running.agents()) expect(isRunning(pid)).toBe(false);
  });

  test('an agent that dies is started again and taken back', async () => {
    const { url } = await realServer();
    // The delay keeps the task waiting, so that it is still on when the agent dies, its work done.
    const faults = ['--faults', 'delay=8s:extract>triple,kill=extract@1s', '--restart', 'on-failure'];
    const { code, stderr, out } = await runBench(['--nats-url', url, ...faults]);

    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/agent 1 \(extract\) is back after \d/);
    expect(readMetrics(out)).toMatchObject({ status: 'answered', ledger: { balanced: true } });
  });
});

test('doctor says whether there is a server, and never what it is told in secret', async () => {
  const server = await realServer();
  const env = { NATS_URL: server.url.replace('//', '//gaia:s3cret-word@') };
  const there = await callCli(['doctor'], { env });
  expect(there.stdout).toContain(`✓ NATS             a server answers at ${server.url}`);
  await server.stop();

  const gone = await callCli(['doctor'], { env });
  expect(gone.stdout).toContain(`– NATS             no NATS server answers at ${server.url}`);
  expect(there.stdout + gone.stdout).not.toContain('s3cret-word');
});
