import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from './testing/cli.ts';
import { RawAgent } from './testing/raw-agent.ts';
import { readMetrics } from './testing/run-files.ts';
import { taskFile, teamFile, writtenFile } from './testing/team-file.ts';

/** The folder of a run of two tasks with a launched agent and one of the test's own. */
async function finishedRun(out = temporaryFolder()): Promise<string> {
  const final = await RawAgent.listen({
    id: '3',
    tool: 'reason',
    onPacket: (packet, self) => packet.type === 'doc_init' && self.answer(packet, 'yes'),
  });
  const team = teamFile({ final: 3, agents: [{ id: 2, tool: 'triple' }, final.entry] });
  const tasks = taskFile(
    ['t-1', 't-2'].map((task_id) => ({ task_id, question: 'Is it?', document: 'It is 🏁.' })),
  );
  const { code, stderr } = await runCli([
    ...['bench', '--team', team, '--external', '3', '--tasks', tasks, '--concurrency', '1'],
    ...['--port-base', 'auto', '--out', out],
  ]);
  expect([code, stderr]).toEqual([0, expect.stringContaining('2/2')]);
  return out;
}

describe('logs', () => {
  test('prints the logs of hub and agents as one, in order of time', async () => {
    const out = await finishedRun();

    const plain = await runCli(['logs', '--out', out]);
    const lines = plain.stdout.trimEnd().split('\n');
    const times = lines.map((line) => Number.parseFloat(line));
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(times[0]).toBe(0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(plain.stdout).toMatch(/2 {5}received +doc_init +hub-1 hub → all/);
    expect(plain.stdout).toMatch(/hub {3}packet +data_event +3-1 3 → all \[final_answer\]/);
    expect(plain.stdout).not.toContain('\u001b');

    const json = await runCli(['logs', '--out', out, '--json', '--task', 't-2']);
    const values = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(values.length).toBeGreaterThan(2);
    for (const value of values)
      expect(value).toMatchObject({ task_id: 't-2', log: expect.stringMatching(/^(hub|2)$/) });
  });

  test('says so where there is no run', async () => {
    const folder = temporaryFolder();

    const { code, stderr } = await runCli(['logs', '--out', folder]);

    expect(code).toBe(2);
    expect(stderr).toContain(`there is no run in ${folder}`);
  });
});

describe('clean', () => {
  test('deletes what runs left and nothing else', async () => {
    const out = await finishedRun();
    await finishedRun(out);
    const mine = writtenFile(out, 'thesis.txt', 'ten years of work');
    mkdirSync(path.join(out, 'runs', 'my-own-run'));

    const { code, stdout } = await runCli(['clean', '--out', out]);

    expect(code).toBe(0);
    expect(stdout).toContain(out);
    expect(readdirSync(out).sort()).toEqual(['runs', 'thesis.txt']);
    expect(readdirSync(path.join(out, 'runs'))).toEqual(['my-own-run']);
    expect(readFileSync(mine, 'utf8')).toBe('ten years of work');

    rmSync(path.join(out, 'runs'), { recursive: true });
    await finishedRun(out);
    await runCli(['clean', '--out', out]);
    expect(readdirSync(out)).toEqual(['thesis.txt']);
  });

  test('leaves a workspaces/ that is not its own alone', async () => {
    const out = temporaryFolder();
    mkdirSync(path.join(out, 'workspaces'));
    const mine = writtenFile(path.join(out, 'workspaces'), 'thesis.txt', 'ten years of work');

    const { code, stderr } = await runCli(['clean', '--out', out]);

    expect(code).toBe(1);
    expect(stderr).toContain('was not made by gaia-mesh');
    expect(existsSync(mine)).toBe(true);
  });

  test('has nothing to do where there was no run', async () => {
    expect(await runCli(['clean', '--out', temporaryFolder()])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('list', () => {
  test.each([
    ['adapters', ['json', 'msgpack']],
    ['layers', ['deflate', 'zstd', 'brotli', 'ed25519', 'chacha20-poly1305', 'aes-256-gcm', 'crc32c']],
    ['tools', ['search', 'extract', 'triple', 'reason']],
    ['engines', ['extractive', 'ollama']],
    ['teams', ['pipeline']],
    ['tasks', ['cairn-astel-light', 'hathe-restoration', 'perrine-tissavoz', 'vihterand-tramway']],
    ['scorers', ['exact_rouge', 'squad', 'bleu', 'gaia']],
  ])('%s names them all, for people and as JSON', async (what, names) => {
    const plain = await runCli(['list', what]);
    const json = await runCli(['list', what, '--json']);

    expect(plain).toMatchObject({ code: 0, stderr: '' });
    for (const name of names) expect(plain.stdout).toMatch(new RegExp(`^${name}\\b`, 'm'));
    const items: { name: string; description: string }[] = JSON.parse(json.stdout);
    expect(items.map((item) => item.name)).toEqual(expect.arrayContaining(names));
    for (const item of items)
      expect(item).toEqual({ name: expect.any(String), description: expect.any(String) });
  });
});

describe('doctor', () => {
  test('checks what a run needs, as one JSON value', async () => {
    const { code, stdout } = await runCli(['doctor', '--json']);

    const findings: { what: string; status: string; detail: string }[] = JSON.parse(stdout);
    expect(findings.map((finding) => finding.what)).toEqual([
      'Node',
      'ports',
      'sandbox',
      'Ollama',
      'Python',
      'disk',
    ]);
    expect(findings[0]).toEqual({
      what: 'Node',
      status: 'ok',
      detail: expect.stringContaining(process.version),
    });
    expect(findings.find((finding) => finding.what === 'sandbox')).toMatchObject({ status: 'ok' });
    // Ports and disk are this machine's own affair.
    expect(code).toBe(findings.some((finding) => finding.status === 'bad') ? 1 : 0);
  });

  test('reads as a list for people', async () => {
    const { stdout } = await runCli(['doctor']);

    expect(stdout).toMatch(/^Gaia Mesh \d/);
    expect(stdout).toMatch(/^✓ sandbox /m);
  });
});

describe('a run in a folder that holds other things', () => {
  test('keeps somebody else’s metrics.json', async () => {
    const out = temporaryFolder();
    writtenFile(out, 'metrics.json', '{"mine": true}');

    await finishedRun(out);
    const { run_id } = readMetrics(out);
    await finishedRun(out);

    expect(readFileSync(path.join(out, 'runs', `before-${run_id}`, 'metrics.json'), 'utf8')).toBe(
      '{"mine": true}',
    );
  });
});
