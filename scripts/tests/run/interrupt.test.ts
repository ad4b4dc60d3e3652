import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, isRunning, takePort, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** Two agents that were launched and a final one that never answers: a run that goes on until somebody ends it. */
async function endlessRun(
  out: string,
  how: { program?: string; args?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Cli> {
  const silent = await RawAgent.listen({ id: '3', tool: 'reason' });
  const agents = [{ id: 0, tool: 'triple' }, { id: 1, tool: 'reason' }, silent.entry];
  const team = teamFile({ final: 3, agents });
  const document = writtenFile(temporaryFolder(), 'note.txt', 'A short note.');
  const args = ['--team', team, '--external', '3', '--document', document, '--question', 'What is it?'];
  return new Cli([...(how.args ?? ['bench']), '--port-base', 'auto', ...args, '--out', out], {
    program: how.program,
    env: how.env,
    cwd: how.program === undefined ? undefined : codeFolder,
  });
}

function metricsIn(folder: string) {
  return JSON.parse(readFileSync(path.join(folder, 'metrics.json'), 'utf8'));
}

/** Every agent that was up is gone, and its port is free again. */
async function expectNothingLeft(run: Cli): Promise<void> {
  for (const { pid, port } of run.agents()) {
    expect(isRunning(pid)).toBe(false);
    await (await takePort(port)).free();
  }
}

/** The same of a run whose agents nobody waited for. */
async function expectNothingLeftWithin(run: Cli, timeout: number): Promise<void> {
  await vi.waitFor(() => expectNothingLeft(run), { timeout, interval: 20 });
}

describe('Ctrl-C', () => {
  test.each([
    ['the whole process group, as a terminal sends it', (run: Cli) => run.signalGroup('SIGINT')],
    ['the launcher, as of a terminal that is closed,', (run: Cli) => run.signal('SIGHUP')],
  ])('to %s ends the agents, writes partial metrics and exits with 130', async (_whom, interrupt) => {
    const out = temporaryFolder();
    const run = await endlessRun(out);
    await run.says(/hub +→ all +doc_init/);
    interrupt(run);

    const { code, signal, stdout } = await run.ended();

    expect([code, signal]).toEqual([130, null]);
    expect(stdout).not.toContain('DONE');
    expect(metricsIn(out)).toMatchObject({ status: 'failed', reason: 'interrupted', answer: null });
    expect(existsSync(path.join(out, 'run_artifacts.tar.gz'))).toBe(true);
    // When the prompt is back, everything is already over.
    expect(run.agents()).toHaveLength(2);
    await expectNothingLeft(run);
  });

  test('under npm, which passes the terminal’s signal on, still writes partial metrics', async () => {
    const out = temporaryFolder();
    const run = await endlessRun(out, { program: 'npm', args: ['run', '-s', 'bench', '--'] });
    await run.says(/hub +→ all +doc_init/);
    run.signalGroup('SIGINT');

    await run.ended();

    expect(run.stderr).toContain('ending the run');
    // npm does not always wait for what it started.
    await vi.waitFor(() => expect(metricsIn(out)).toMatchObject({ reason: 'interrupted' }), {
      timeout: 60_000,
    });
    expect(run.agents()).toHaveLength(2);
    await expectNothingLeftWithin(run, 60_000);
  });

  test('under npm counts once, however late npm passes it on', async () => {
    const out = temporaryFolder();
    const run = await endlessRun(out, { env: { npm_lifecycle_script: 'gaia-mesh bench' } });
    await run.says(/hub +→ all +doc_init/);
    run.signal('SIGINT');
    await run.says(/ending the run/);
    run.signal('SIGINT');

    expect((await run.ended()).code).toBe(130);
    expect(metricsIn(out)).toMatchObject({ reason: 'interrupted' });
    await expectNothingLeft(run);
  });

  test('for the second time ends the run at once', async () => {
    const run = await endlessRun(temporaryFolder());
    await run.says(/hub +→ all +doc_init/);
    run.signal('SIGINT');
    run.signal('SIGTERM');

    expect((await run.ended()).code).toBe(130);
    await expectNothingLeftWithin(run, 60_000);
  });

  test('that never comes, since npm was killed, is not waited for', async () => {
    const out = temporaryFolder();
    const run = await endlessRun(out, { program: 'npm', args: ['run', '-s', 'bench', '--'] });
    await run.says(/hub +→ all +doc_init/);
    run.signal('SIGKILL');

    expect(run.agents()).toHaveLength(2);
    await expectNothingLeftWithin(run, 60_000);
    await vi.waitFor(() => expect(metricsIn(out)).toMatchObject({ reason: 'interrupted' }), {
      timeout: 60_000,
    });
  });

  test('while agents are still coming up ends them and exits with 130', async () => {
    const out = temporaryFolder();
    // It cannot be over before the signal comes, however late that is.
    const run = await endlessRun(out);
    await vi.waitFor(() => expect(readdirSync(path.join(out, 'workspaces'))).toContain('1'), {
      timeout: 60_000,
      interval: 5,
    });
    run.signalGroup('SIGINT');

    const { code, stderr } = await run.ended();

    expect([code, stderr]).toEqual([130, expect.not.stringContaining('did not come up')]);
    for (const { pid } of run.agents()) expect(isRunning(pid)).toBe(false);
    expect(existsSync(path.join(out, 'workspaces', '.lock'))).toBe(false);
  });

  test('in a batch keeps the results of the tasks that were finished', async () => {
    const out = temporaryFolder();
    const agent = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (packet, self) => packet.task_id === 'quick-1' && self.answer(packet, 'yes'),
    });
    const team = teamFile({ final: 3, agents: [agent.entry] });
    const lines = ['quick-1', 'slow-1', 'slow-2'].map((task_id) =>
      JSON.stringify({ task_id, question: 'Is it?', document: 'It is.', answer: 'yes' }),
    );
    const tasks = writtenFile(temporaryFolder(), 'tasks.jsonl', lines.join('\n'));
    const run = new Cli([
      ...['bench', '--team', team, '--external', '3', '--tasks', tasks, '--concurrency', '1', '--json'],
      ...['--out', out],
    ]);
    await run.says(/1\/3 tasks/);
    run.signal('SIGINT');

    const { code, stdout } = await run.ended();

    expect(code).toBe(130);
    const results = readFileSync(path.join(out, 'results.jsonl'), 'utf8').trim().split('\n');
    expect(JSON.parse(results[0] ?? '')).toMatchObject({
      task_id: 'quick-1',
      status: 'answered',
      answer: 'yes',
    });
    expect(JSON.parse(stdout)).toMatchObject({ answered: 1 });
  });
});

describe('Ctrl-C under npm', () => {
  test('ends an agent that was started by hand without a word of complaint', async () => {
    const args = ['run', '-s', 'agent', '--', '--id', '2', '--tool', 'triple', '--port', '0'];
    const run = new Cli([...args, '--workspace', temporaryFolder()], { program: 'npm', cwd: codeFolder });
    const [, port] = await run.says(/listens on 127\.0\.0\.1:(\d+)/);
    run.signalGroup('SIGINT');

    const { stderr } = await run.ended();

    expect(stderr).not.toMatch(/Error|^ +at /m);
    await (await takePort(Number(port))).free();
  });
});

describe('a launcher that is killed with kill -9', () => {
  test('takes its agents with it within 2 s; the next run takes the folder over', async () => {
    const out = temporaryFolder();
    const run = await endlessRun(out);
    await run.says(/hub +→ all +doc_init/);
    run.signal('SIGKILL');
    await run.ended();
    expect(run.agents()).toHaveLength(2);
    await expectNothingLeftWithin(run, 2000);
    expect(existsSync(path.join(out, 'workspaces', '.lock'))).toBe(true);

    const next = await quickRun(out);

    expect(next.code).toBe(0);
    expect(metricsIn(out)).toMatchObject({ status: 'answered', answer: 'yes' });
    expect(existsSync(path.join(out, 'workspaces', '.lock'))).toBe(false);
  });

  test('takes with it those that were still coming up', async () => {
    const run = await endlessRun(temporaryFolder());
    await run.says(/agent \d/);
    run.signal('SIGKILL');
    await run.ended();

    await expectNothingLeftWithin(run, 60_000);
  });
});

describe('a second run into the same folder', () => {
  test('is refused while the first is on, which goes on undisturbed', async () => {
    const out = temporaryFolder();
    const run = await endlessRun(out);
    await run.says(/hub +→ all +doc_init/);

    const second = await quickRun(out);

    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`another run (process ${run.pid}) is writing to ${out}`);
    expect(second.stderr).toContain('--out');
    const cleaning = await callCli(['clean', '--yes', '--out', out]);
    expect(cleaning.code).toBe(1);
    expect(cleaning.stderr).toContain(`another run (process ${run.pid})`);
    run.signal('SIGINT');
    expect((await run.ended()).code).toBe(130);
    expect(metricsIn(out).agents.map((agent: { status: string }) => agent.status)).toEqual([
      'up',
      'up',
      'up',
    ]);
  });

  test('moves the earlier results to runs/<run id>/', async () => {
    const out = temporaryFolder();
    await quickRun(out);
    const first = metricsIn(out);

    await quickRun(out);

    expect(metricsIn(out).run_id).not.toBe(first.run_id);
    expect(readdirSync(path.join(out, 'runs'))).toEqual([first.run_id]);
    expect(metricsIn(path.join(out, 'runs', first.run_id))).toEqual(first);
    expect(readdirSync(path.join(out, 'runs', first.run_id)).sort()).toEqual([
      'metrics.json',
      'run_artifacts.tar.gz',
    ]);
  });
});

/** A run of one agent that answers at once. */
async function quickRun(out: string) {
  const agent = await RawAgent.listen({
    id: '3',
    tool: 'reason',
    onPacket: (packet, self) => self.answer(packet, 'yes'),
  });
  const team = teamFile({ final: 3, agents: [agent.entry] });
  const document = writtenFile(temporaryFolder(), 'note.txt', 'A short note.');
  return callCli([
    ...['bench', '--team', team, '--external', '3', '--out', out],
    ...['--document', document, '--question', 'Is it?'],
  ]);
}
