import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { adapterNames } from '../../../protocols/registry.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';

/** A run of the default team, recorded with JSON. */
const out = temporaryFolder();
const archive = path.join(out, 'run_artifacts.tar.gz');
let metrics: Record<string, Record<string, Record<string, unknown>>>;

beforeAll(async () => {
  const run = await runCli(['bench', '--port-base', 'auto', '--out', out, '--json']);
  expect(run.code, run.stderr).toBe(0);
  metrics = JSON.parse(run.stdout);
});

async function replay(...options: string[]) {
  const run = await runCli(['replay', archive, '--json', ...options]);
  expect(run.code, run.stderr).toBe(0);
  return JSON.parse(run.stdout);
}

describe('a replay', () => {
  test('of a run through its own adapter has the very ledger of the run, each time', async () => {
    const { rounds } = await replay('--rounds', '2');
    for (const { ledger } of rounds) {
      expect(ledger.types).toEqual(metrics.ledger?.types);
      expect(ledger.total).toEqual(metrics.ledger?.total);
      expect(ledger.written.packets).toBe(metrics.bytes_tx);
      expect(ledger.read.packets).toBe(metrics.bytes_rx);
    }
  });

  test.each(adapterNames)('through %s carries the same payloads, and balances', async (adapter) => {
    const { rounds, recorded_with } = await replay('--adapter', adapter);
    expect(recorded_with).toBe('json');
    expect(rounds[0].ledger).toMatchObject({ balanced: true });
    expect(rounds[0].ledger.total).toMatchObject({
      packets: metrics.ledger?.total?.packets,
      payload: metrics.ledger?.total?.payload,
    });
  });

  test('takes the time that the tools took, if asked to', async () => {
    const elapsedMs = async (toolTime: string) =>
      (await replay('--tool-time', toolTime)).rounds[0].elapsed_ms;
    const toolMs =
      Object.values(metrics.hops ?? {}).reduce((sum, hop) => sum + Number(hop.tool_us), 0) / 1000;
    const tenfold = await elapsedMs('10');
    expect(tenfold).toBeGreaterThan(10 * toolMs);
    expect(await elapsedMs('recorded')).toBeGreaterThan(toolMs);
    // Far apart: how long a replay takes besides, on a busy machine, may be more than the tools took.
    expect(await elapsedMs('zero')).toBeLessThan(tenfold);
  });

  test('of what is no archive, or of one without a recording, says so and exits with 2', async () => {
    const file = path.join(temporaryFolder(), 'notes.tar.gz');
    writeFileSync(file, 'not an archive');
    for (const [name, reason] of [
      [file, 'notes.tar.gz'],
      [`${file}.missing`, 'there is no such file'],
    ] as const) {
      const run = await runCli(['replay', name]);
      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
    }
    expect(await runCli(['replay', archive, '--tool-time', 'soon'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--tool-time: expected recorded, zero, or a factor'),
    });
  });
});

test('the parts of a task’s time sum to its time', () => {
  const { total, ...parts } = metrics.time_us as unknown as Record<string, number>;
  const sum = Object.values(parts).reduce((all, part) => all + part, 0);
  expect(Math.abs(sum - Number(total))).toBeLessThan(1);
  for (const part of Object.values(parts)) expect(part).toBeGreaterThanOrEqual(0);
  // Begun and ended by two clocks, a few milliseconds apart on a machine that is idle.
  expect(Number(total) / 1000 / Number(metrics.elapsed_ms)).toBeCloseTo(1, 0);
});

test('a recording of more agents than are allowed starts none of them', async () => {
  const run = await runCli(['replay', archive, '--max-agents', '3']);
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('--max-agents 4 allows them') });
  const compared = await runCli(['compare', '--recording', archive, '--max-agents', '3']);
  expect(compared).toMatchObject({ code: 2, stderr: expect.stringContaining('the recording has 4 agents') });
});

test.skipIf(process.platform === 'win32')(
  'what a run leaves of documents and answers is its user’s alone',
  () => {
    const files = [
      'run_artifacts.tar.gz',
      'metrics.json',
      'workspaces/tasks.jsonl',
      'workspaces/recording.jsonl',
    ];
    for (const name of [...files, 'workspaces/3/reason.log', 'workspaces/hub.log'])
      expect([name, statSync(path.join(out, name)).mode & 0o077]).toEqual([name, 0]);
  },
);

test('a team whose agents have DIDs, URNs and paths as their ids runs, is archived and replayed like any other', async () => {
  const folder = temporaryFolder();
  const team = path.join(folder, 'identities.yaml');
  const ids = {
    search: 'did:wba:agents.example.com%3A8800:search',
    extract: 'urn:agent:example:extract',
    triple: 'acme/knowledge/triple',
    reason: 'https://example.com/agents/reason?v=1&lang=en',
  };
  const agents = Object.entries(ids).map(([tool, id]) => `  - { id: "${id}", tool: ${tool} }`);
  writeFileSync(
    team,
    ['version: 1', 'name: identities', `final: "${ids.reason}"`, 'agents:', ...agents].join('\n'),
  );
  const run = await runCli(['bench', '--team', team, '--port-base', 'auto', '--out', folder, '--json']);
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ ledger: { balanced: true }, recording: { packets: 4 } });
  const workspaces = readdirSync(path.join(folder, 'workspaces'), { withFileTypes: true });
  expect(workspaces.filter((entry) => entry.isDirectory())).toHaveLength(agents.length);
  const replayed = await runCli(['replay', path.join(folder, 'run_artifacts.tar.gz'), '--json']);
  expect(replayed.code, replayed.stderr).toBe(0);
});
