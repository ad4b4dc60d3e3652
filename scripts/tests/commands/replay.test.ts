import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';

/** A run of the default team, recorded with JSON. */
const out = temporaryFolder();
const archive = path.join(out, 'run_artifacts.tar.gz');
let metrics: Record<string, Record<string, Record<string, unknown>>>;

beforeAll(async () => {
  const run = await callCli(['bench', '--port-base', 'auto', '--out', out, '--json']);
  expect(run.code, run.stderr).toBe(0);
  metrics = JSON.parse(run.stdout);
});

/** One pass of each adapter is a sample; verdicts are not the subject. */
const ONCE = ['--invocations', '1', '--rounds', '1', '--budget', '20', '--json'];

/** Plays a recording by the built command, whose processes start as a user's do; in this process where it will be refused. */
async function replay(file: string, adapters: readonly string[], start = runCli) {
  const folder = temporaryFolder();
  const names = ['--adapters', adapters.join(',')];
  return start(['compare', '--recording', file, ...names, ...ONCE, '--out', folder]);
}

describe('a recording that is played again', () => {
  test('through its own adapter has the very ledger of the run; through another, the same payloads', async () => {
    const { code, stdout, stderr } = await replay(archive, ['json', 'msgpack+zstd']);
    expect(code, stderr).toBe(0);

    const [own, other] = JSON.parse(stdout).arms;
    expect(own.ledger).toMatchObject({ types: metrics.ledger?.types, total: metrics.ledger?.total });
    expect(own.bytes_on_wire).toBe(Number(metrics.bytes_tx) + Number(metrics.bytes_rx));
    expect(other).toMatchObject({ name: 'msgpack+zstd' });
    expect(other.ledger.total).toMatchObject({
      packets: metrics.ledger?.total?.packets,
      payload: metrics.ledger?.total?.payload,
    });
  });

  test('is refused with 2 where it is no archive, or not there', async () => {
    const file = path.join(temporaryFolder(), 'notes.tar.gz');
    writeFileSync(file, 'not an archive');
    for (const [name, reason] of [
      [file, 'notes.tar.gz'],
      [`${file}.missing`, 'there is no such file'],
    ] as const) {
      const run = await replay(name, ['json'], callCli);
      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
    }
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
  const run = await callCli(['compare', '--recording', archive, '--max-agents', '3']);
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('the recording has 4 agents') });
  expect(run.stderr).toContain('--max-agents 4 allows them');
});

test('what a run leaves of documents and answers is its user’s alone', () => {
  const files = [
    'run_artifacts.tar.gz',
    'metrics.json',
    'workspaces/tasks.jsonl',
    'workspaces/recording.jsonl',
  ];
  for (const name of [...files, 'workspaces/3/reason.log', 'workspaces/hub.log'])
    expect([name, statSync(path.join(out, name)).mode & 0o077]).toEqual([name, 0]);
});

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
  const run = await callCli(['bench', '--team', team, '--port-base', 'auto', '--out', folder, '--json']);
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ ledger: { balanced: true }, recording: { packets: 4 } });
  const workspaces = readdirSync(path.join(folder, 'workspaces'), { withFileTypes: true });
  expect(workspaces.filter((entry) => entry.isDirectory())).toHaveLength(agents.length);
  const replayed = await replay(path.join(folder, 'run_artifacts.tar.gz'), ['json']);
  expect(replayed.code, replayed.stderr).toBe(0);
  expect(JSON.parse(replayed.stdout).arms).toMatchObject([{ name: 'json', vs_baseline: null }]);
});
