import path from 'node:path';
import { readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile } from '../../testing/team-file.ts';

const NETWORK = ['--network', 'rtt=60ms,rate=50mbit'];

test('a network between the hub and its agents delays what they say, and the run names it', async () => {
  const out = temporaryFolder();
  const team = ['--team', 'single', '--port-base', 'auto'];

  const { code, stdout, stderr } = await callCli(['bench', ...team, ...NETWORK, '--out', out]);

  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Network   60 ms round trip, 50 Mbit/s between the hub and each agent');
  const metrics = readMetrics(out);
  expect(metrics).toMatchObject({
    status: 'answered',
    network: { rtt_ms: 60, bits_per_s: 50e6 },
    ledger: { balanced: true },
  });
  // The document goes there, and the answer comes back.
  expect(metrics.time_us?.wire).toBeGreaterThan(60_000);
  expect((await readArchivedRun(path.join(out, 'run_artifacts.tar.gz'))).metrics.network).toEqual(
    metrics.network,
  );
});

test('an agent behind a network that does not listen is named, and how to start it', async () => {
  const team = teamFile({ final: 1, agents: [{ id: 1, tool: 'answer_alone' }] });
  const { code, stderr } = await callCli(['bench', '--team', team, '--external', '1', ...NETWORK]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/agent 1 \(answer_alone\) on 127\.0\.0\.1:\d+: no agent listens there; start it: /);
});

test('a network is refused where no packet would pass it', async () => {
  const { code, stderr } = await callCli(['bench', ...NETWORK, '--transport', 'nats']);

  expect(code).toBe(2);
  expect(stderr).toContain('--network rtt=60ms,rate=50mbit has no effect: the packets of team pipeline');
});
