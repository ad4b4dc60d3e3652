import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { taskFile, teamFile, writtenFile } from '../../testing/team-file.ts';

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
  const { code, stderr } = await callCli([
    ...['bench', '--team', team, '--external', '3', '--tasks', tasks, '--concurrency', '1'],
    ...['--port-base', 'auto', '--out', out],
  ]);
  expect([code, stderr]).toEqual([0, expect.stringContaining('2/2')]);
  return out;
}

describe('logs', () => {
  test('prints the logs of hub and agents as one, in order of time', async () => {
    const out = await finishedRun();

    const plain = await callCli(['logs', '--out', out]);
    const lines = plain.stdout.trimEnd().split('\n');
    const times = lines.map((line) => Number.parseFloat(line));
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(times[0]).toBe(0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(plain.stdout).toMatch(/2 {5}received +doc_init +hub-1 hub → all/);
    expect(plain.stdout).toMatch(/hub {3}packet +data_event +3-1 3 → all \[final_answer\]/);
    expect(plain.stdout).not.toContain('\u001b');

    const json = await callCli(['logs', '--out', out, '--json', '--task', 't-2']);
    const values = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(values.length).toBeGreaterThan(2);
    for (const value of values)
      expect(value).toMatchObject({ task_id: 't-2', log: expect.stringMatching(/^(hub|2)$/) });

    const none = await callCli(['logs', '--out', out, '--task', 'nope']);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toMatch(/--task nope: no line is about this task; the logs name t-/);
  });

  test('says so where there is no run', async () => {
    const folder = temporaryFolder();

    const { code, stderr } = await callCli(['logs', '--out', folder]);

    expect(code).toBe(2);
    expect(stderr).toContain(`there is no run in ${folder}: make one with`);
  });

  test.each([
    ['.', 'mine.runs/single'],
    ['mine.jsonl', 'mine.runs/single'],
    ['mine.runs', 'mine.runs/single'],
    ['.', 'runs/20261126-180409-c84ff1'],
  ])('names a run that a batch or a server keeps near %s, which is %s', async (place, run) => {
    const folder = temporaryFolder();
    const own = path.join(folder, run);
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, 'run_artifacts.tar.gz'), '');
    if (place === 'mine.jsonl') writeFileSync(path.join(folder, place), '');

    const { code, stderr } = await callCli(['logs', '--out', path.join(folder, place)]);

    expect(code).toBe(2);
    expect(stderr).toContain(`name the folder of a run, such as ${own}`);
  });
});

describe('clean', () => {
  test('deletes what runs left and nothing else', async () => {
    const out = await finishedRun();
    await finishedRun(out);
    const mine = writtenFile(out, 'thesis.txt', 'ten years of work');
    mkdirSync(path.join(out, 'runs', 'my-own-run'));

    const { code, stdout } = await callCli(['clean', '--yes', '--out', out]);

    expect(code).toBe(0);
    // The line does not read as if the folder itself went.
    expect(stdout).toBe(`deleted the files of the last run in ${out}, and an earlier run in runs/\n`);
    expect(readdirSync(out).sort()).toEqual(['runs', 'thesis.txt']);
    expect(readdirSync(path.join(out, 'runs'))).toEqual(['my-own-run']);
    expect(readFileSync(mine, 'utf8')).toBe('ten years of work');

    rmSync(path.join(out, 'runs'), { recursive: true });
    rmSync(mine);
    await finishedRun(out);
    writtenFile(out, 'thesis.txt', 'ten years of work');
    await callCli(['clean', '--yes', '--out', out]);
    expect(readdirSync(out)).toEqual(['thesis.txt']);
  });

  test('leaves a workspaces/ that is not its own alone', async () => {
    const out = temporaryFolder();
    mkdirSync(path.join(out, 'workspaces'));
    const mine = writtenFile(path.join(out, 'workspaces'), 'thesis.txt', 'ten years of work');

    const { code, stderr } = await callCli(['clean', '--yes', '--out', out]);

    expect(code).toBe(1);
    expect(stderr).toContain('was not made by gaia-mesh');
    expect(existsSync(mine)).toBe(true);
  });

  test('deletes what gaia left, and neither a store of its own nor files that only look like it', async () => {
    const out = temporaryFolder();
    const gaia = path.join(out, 'runs', 'gaia');
    mkdirSync(gaia, { recursive: true });
    const questions = writtenFile(
      out,
      'q.jsonl',
      '{"task_id":"a","question":"What is 2 + 2?","answer":"4"}\n',
    );
    const args = ['--questions', questions, '--out', path.join(gaia, 'answers.jsonl')];
    const store = ['--store', path.join(gaia, 'mine.sqlite')];
    const batch = await callCli(['gaia', '--team', 'single', ...args, ...store, '--port-base', 'auto']);
    expect(batch.code, batch.stderr).toBe(0);
    expect(readdirSync(gaia)).toContain('answers.report.html');
    writtenFile(gaia, 'other.batch.json', '{"mine": true}');

    for (const [words, code, says] of [
      [['--dry-run'], 0, 'would delete'],
      [[], 2, 'nothing was deleted'],
    ] as const) {
      const before = readdirSync(gaia);
      const cautious = await callCli(['clean', ...words, '--out', out]);
      expect(cautious.code).toBe(code);
      expect(cautious.stdout + cautious.stderr).toContain(says);
      expect(cautious.stdout + cautious.stderr).toMatch(
        /a batch of questions with 1 answer: \S+answers\.jsonl\n/,
      );
      expect(readdirSync(gaia)).toEqual(before);
    }
    const lock = writtenFile(gaia, 'answers.jsonl.journal.lock', `${process.pid}\n`);
    expect(await callCli(['clean', '--yes', '--out', out])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a batch (process'),
    });
    rmSync(lock);
    const { code, stdout } = await callCli(['clean', '--yes', '--out', out]);

    expect([code, stdout]).toEqual([
      0,
      `deleted a batch of questions with 1 answer: ${path.join(gaia, 'answers.jsonl')}\n`,
    ]);
    const left = readdirSync(gaia).filter((name) => !name.startsWith('mine.sqlite'));
    expect(left).toEqual(['other.batch.json']);
    expect(existsSync(path.join(gaia, 'mine.sqlite'))).toBe(true);
    rmSync(gaia, { recursive: true });
    await callCli(['gaia', '--team', 'single', ...args, '--port-base', 'auto']);
    await callCli(['clean', '--yes', '--out', out]);
    expect(readdirSync(out)).toEqual(['q.jsonl']);
  });
});

describe('list', () => {
  test.each([
    ['adapters', ['json', 'msgpack']],
    ['layers', ['deflate', 'zstd', 'brotli', 'ed25519', 'chacha20-poly1305', 'aes-256-gcm', 'crc32c']],
    ['tools', ['search', 'extract', 'triple', 'reason']],
    ['engines', ['extractive', 'ollama', 'openai', 'anthropic']],
    ['teams', ['pipeline', 'single', 'supervisor', 'react', 'overseer', 'panel']],
    ['tasks', ['cairn-astel-light', 'hathe-restoration', 'perrine-tissavoz', 'vihterand-tramway']],
    ['scorers', ['exact_rouge', 'squad', 'bleu', 'gaia']],
  ])('%s names them all, for people and as JSON', async (what, names) => {
    const plain = await callCli(['list', what]);
    const json = await callCli(['list', what, '--json']);

    expect(plain).toMatchObject({ code: 0, stderr: '' });
    for (const name of names) expect(plain.stdout).toMatch(new RegExp(`^${name}\\b`, 'm'));
    const items: { name: string; description: string }[] = JSON.parse(json.stdout);
    expect(items.map((item) => item.name)).toEqual(expect.arrayContaining(names));
    for (const item of items)
      expect(item).toMatchObject({ name: expect.any(String), description: expect.stringMatching(/\w/) });
  });

  test('tools says which are the pipeline’s, which begin a team, which think and which are asked', async () => {
    const items: { name: string; kind: string }[] = JSON.parse(
      (await callCli(['list', 'tools', '--json'])).stdout,
    );

    const kinds = Map.groupBy(items, ({ kind }) => kind);
    const named = (kind: string) => kinds.get(kind)?.map(({ name }) => name);
    expect([...kinds.keys()]).toEqual(['pipeline', 'entry', 'role', 'tool']);
    const ofTeams = ['answer_alone', 'route', 'react_step', 'oversee', 'moderate'];
    expect(named('entry')).toEqual(ofTeams);
    expect(named('role')).toEqual(expect.arrayContaining(['plan', 'critique', 'finalize']));
    expect(named('tool')).toEqual(
      expect.arrayContaining(['wikipedia', 'read_excel', 'calculator', 'gap_store']),
    );
  });

  test('teams says how many think and how many are tools, and how packets travel', async () => {
    const { stdout } = await callCli(['list', 'teams']);

    expect(stdout).toMatch(/^single +1 role +0 tools +broadcast +one agent/m);
    expect(stdout).toMatch(/^panel +6 roles +\d\d tools +direct +planner, researcher/m);
  });
});

describe('doctor', () => {
  test('checks what a run needs, as one JSON value', async () => {
    const { code, stdout } = await callCli(['doctor', '--json']);

    const findings: { what: string; status: string; detail: string }[] = JSON.parse(stdout);
    expect(findings.map((finding) => finding.what)).toEqual([
      'system',
      'Node',
      'ports',
      'sandbox',
      'Ollama',
      'NATS',
      'models',
      'keys',
      'Python',
      'images',
      'disk',
      'SDKs in python',
      'SDKs in go',
    ]);
    expect(findings[1]).toEqual({
      what: 'Node',
      status: 'ok',
      detail: expect.stringContaining(process.version),
    });
    expect(findings.find((finding) => finding.what === 'sandbox')).toMatchObject({ status: 'ok' });
    // A server is nothing that a run needs.
    expect(findings.find((finding) => finding.what === 'NATS')?.status).not.toBe('bad');
    // Ports and disk are this machine's own affair.
    expect(code).toBe(findings.some((finding) => finding.status === 'bad') ? 1 : 0);
  });

  test('names the keys that are set, from .env too, and shows none of them', async () => {
    const cwd = temporaryFolder();
    writtenFile(cwd, '.env', 'TAVILY_API_KEY=tvly-secret-of-this-test\n');
    const env = { OPENAI_API_KEY: 'sk-secret-of-this-test', ANTHROPIC_API_KEY: '' };

    const { stdout } = await callCli(['doctor'], { cwd, env });

    expect(stdout).toMatch(/^✓ keys +set: OPENAI_API_KEY, .*TAVILY_API_KEY/m);
    expect(stdout).toMatch(/^✓ images +by a vision model \(OPENAI_API_KEY is set\)/m);
    expect(stdout).not.toMatch(/secret-of-this-test|ANTHROPIC/);
  });

  test('says what would run Python, what recognises text in images, and what is missing to measure other SDKs', async () => {
    const env = Object.fromEntries(
      ['VISION_BASE_URL', 'OPENAI_API_KEY', 'GEMINI_API_KEY'].map((name) => [name, '']),
    );

    const { stdout } = await callCli(['doctor'], { env: { ...env, XDG_CACHE_HOME: temporaryFolder() } });

    expect(stdout).toMatch(/^– SDKs in python +only needed for compare .*: python3 -m venv /m);
    expect(stdout).toMatch(/^– SDKs in go +only needed for compare .* go build -C /m);
    expect(stdout).toMatch(/^✓ Python +Python \d\.\d+\.\d+ as WebAssembly, in a sandbox/m);
    expect(stdout).toMatch(/^✓ images +English text is recognised here, offline/m);
  });

  test('reads as a list for people', async () => {
    const { stdout } = await callCli(['doctor']);

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
