import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { needNatsServer, realServer } from '@gaia-mesh/core/transports/nats/testing/real-server.ts';
import { describe, expect, test } from 'vitest';
import { Cli, entry, runCli, temporaryFolder } from '../../testing/cli.ts';
import { agentByHand, metricsOf, runBench } from '../../testing/nats-runs.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile } from '../../testing/team-file.ts';

needNatsServer();

/** A team of the agent that was started by hand alone. */
const TEAM = ['--team', teamFile({ final: 2, agents: [{ id: 2, tool: 'answer_alone' }] }), '--external', '2'];

describe('an agent that was started by hand on a NATS server', () => {
  test('works for one run after the other, with the secret that both were given', async () => {
    const { url } = await realServer();
    const env = { GAIA_MESH_SECRET: 'known to both, 16 letters long' };
    const agent = await agentByHand(url, '2', 'answer_alone', env);

    for (const round of [1, 2]) {
      const metrics = await metricsOf(['--nats-url', url, ...TEAM], env);
      expect(metrics, `round ${round}`).toMatchObject({ status: 'answered', ledger: { balanced: true } });
    }
    agent.signal('SIGTERM');
    expect(await agent.ended()).toMatchObject({ code: 0 });
  });

  test('gives nothing to a hub that does not know its secret, and is free for the one that does', async () => {
    const { url } = await realServer();
    const agent = await agentByHand(url, '2', 'answer_alone', {
      GAIA_MESH_SECRET: 'the right one, 16 letters long',
    });

    const stranger = await runBench(['--nats-url', url, ...TEAM], {
      GAIA_MESH_SECRET: 'a guess, 16 letters long',
    });
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toContain('could not prove');
    const right = await metricsOf(['--nats-url', url, ...TEAM], {
      GAIA_MESH_SECRET: 'the right one, 16 letters long',
    });
    expect(right.status).toBe('answered');
    agent.signal('SIGTERM');
    await agent.ended();
  });

  test('is named with how to start it where it was not', async () => {
    const { url } = await realServer();

    const { code, stderr } = await runBench(['--nats-url', url, ...TEAM]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `agent 2 (answer_alone) on ${url} as gaia.2: no agent listens there; start it: npm --prefix ${codeFolder} run agent -- --id 2 --tool answer_alone --transport nats --nats-url ${url}`,
    );
  });

  test('works on a server that lets it use its own subjects alone, and cannot pass for another there', async () => {
    const users = `
      { user: hub, password: h, permissions: { publish: "gaia.>", subscribe: "gaia.>" } }
      { user: two, password: t, permissions: { publish: "gaia.2.>", subscribe: "gaia.2.>" } }`;
    const { url } = await realServer({ config: `authorization: { users: [${users}] }` });
    const as = (credentials: string) => ({
      GAIA_MESH_SECRET: 'known to both, 16 letters long',
      NATS_URL: url.replace('//', `//${credentials}@`),
    });
    await agentByHand(url, '2', 'answer_alone', as('two:t'));

    const metrics = await metricsOf(['--transport', 'nats', ...TEAM], as('hub:h'));
    expect(metrics).toMatchObject({ status: 'answered', ledger: { balanced: true } });
    const args = ['agent', '--id', '3', '--tool', 'reason', '--transport', 'nats', '--workspace', '3'];
    const { code, stderr } = await runCli(args, { env: as('two:t') });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /gaia-mesh: NATS server .*Permissions Violation for Subscription to "gaia\.3\.dial"/,
    );
  });

  test('shares its name with others, so that two runs at once have one each', async () => {
    const { url } = await realServer();
    const env = { GAIA_MESH_SECRET: 'known to all, 16 letters long' };
    await Promise.all([
      agentByHand(url, '2', 'answer_alone', env),
      agentByHand(url, '2', 'answer_alone', env),
    ]);
    const { run: first } = waitingWith(url, env);
    await first.says(/hub +→ all +doc_init/);

    const second = await metricsOf(['--nats-url', url, ...TEAM], env);
    expect(second.status).toBe('answered');
    first.signalGroup('SIGINT');
    await first.ended();
  });
});

/** A run that holds agent 2 until it is told to end. */
function waitingWith(url: string, env: Record<string, string>) {
  const out = temporaryFolder();
  const agents = [
    { id: 2, tool: 'answer_alone' },
    { id: 3, tool: 'reason', subscribes: ['nothing'] },
  ];
  const options = [
    '--team',
    teamFile({ final: 3, agents }),
    '--nats-url',
    url,
    '--external',
    '2',
    '--out',
    out,
  ];
  return { out, run: new Cli(['bench', ...options], { env }) };
}

/** A host by itself: its own network, in which the server has another address than the loopback one. */
const OTHER_HOST = `
set -eu
started=
trap 'kill $started' EXIT
ip link set lo up
ip addr add 10.77.0.1/24 dev lo
ip addr add 10.77.0.2/24 dev lo
nats-server -a 10.77.0.1 -p 4222 2>"$OUT/server.log" &
started="$started $!"
until grep -q 'Server is ready' "$OUT/server.log"; do sleep 0.05; done
agent() { # id, tool
  "$NODE" "$ENTRY" agent --id $1 --tool $2 --workspace "$OUT/agent-$1" \\
    --transport nats --nats-url nats://10.77.0.1 2>"$OUT/agent-$1.log" &
  started="$started $!"
  for i in $(seq 300); do grep -q 'listens on' "$OUT/agent-$1.log" && return; sleep 0.1; done
  cat "$OUT/agent-$1.log" >&2; exit 9
}
agent 0 search
agent 2 triple
"$NODE" "$ENTRY" bench --nats-url nats://10.77.0.1 --external 0,2 --out "$OUT/run"
`;

test('a run whose server has an address of a network is answered, and its ledger balances', async (context) => {
  const isRoot = process.getuid?.() === 0;
  const unshare = ['--net', ...(isRoot ? [] : ['--user', '--map-root-user'])];
  if (spawnSync('unshare', [...unshare, 'ip', 'addr', 'add', '10.77.0.1/24', 'dev', 'lo']).status !== 0) {
    const message = 'no network namespace can be made here (unshare --net, ip addr add)';
    if (process.env.CI === 'true') throw new Error(message);
    console.warn(`skipped: ${message}`);
    context.skip(message);
  }
  const out = temporaryFolder();
  const env = {
    OUT: out,
    NODE: process.execPath,
    ENTRY: entry,
    GAIA_MESH_SECRET: 'known to all, 16 letters long',
  };
  const shell = new Cli([...unshare, 'sh', '-c', OTHER_HOST], { program: 'unshare', env });

  const { code, stderr, stdout } = await shell.ended();
  expect(code, stderr + stdout).toBe(0);
  const metrics = readMetrics(path.join(out, 'run'));
  expect(metrics).toMatchObject({ status: 'answered', ledger: { balanced: true, differences: [] } });
});
