import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  execute,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
} from '@gaia-mesh/evaluation/store/testing/postgres-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { place, QUESTIONS } from '../../testing/gaia-questions.ts';

const programs = postgresPrograms();

describe.skipIf(programs === undefined && process.env.CI === undefined)('a queued batch', () => {
  let server: PostgresServer;
  let store = '';
  let env: Record<string, string> = {};
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    const url = new URL(server.url);
    env = { PGPASSWORD: url.password };
    url.password = '';
    store = url.href;
  });
  afterAll(() => server.stop());

  const gaia = (args: readonly string[], cwd: string) =>
    callCli(['gaia', ...args, '--store', store], { cwd, env });
  const work = (...args: readonly string[]) =>
    callCli(['worker', '--store', store, '--idle', '1', ...args], { env });

  /** Queues the questions in `folder` and returns the batch's name. */
  async function queue(folder: string, ...args: readonly string[]): Promise<string> {
    const { stdout, stderr } = await gaia(
      ['--questions', 'q.jsonl', '--queue', '--no-wait', ...args],
      folder,
    );
    const [, name = ''] = /Batch (\S+) is queued/.exec(stdout) ?? [];
    expect(name, stderr).toMatch(/^gaia-\d{8}T\d{6}-[0-9a-f]{4}$/);
    return name;
  }

  const read = (file: string) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));

  test('has the results of a run on one machine, wherever it is waited for', async () => {
    const folder = place();
    const name = await queue(folder, '--team', 'single,pipeline');
    const { code, stdout, stderr } = await work();
    expect(stdout, stderr).toBe('Answered 6 questions.\n');
    expect(code).toBe(0);

    const elsewhere = temporaryFolder();
    const waited = await gaia(['--resume', name, '--out', 'answers.jsonl', '--json'], elsewhere);
    expect(waited.code, waited.stderr).toBe(0);
    const local = await callCli(
      [
        'gaia',
        '--questions',
        'q.jsonl',
        '--team',
        'single,pipeline',
        '--no-cache',
        '--json',
        '--out',
        'l/answers.jsonl',
      ],
      { cwd: folder },
    );
    const figures = ({ stdout: text }: { stdout: string }) =>
      Object.entries<Record<string, unknown>>(JSON.parse(text).teams).map(([team, of]) => [
        team,
        of.answered,
        of.right,
        of.accuracy,
        of.tokens,
      ]);
    expect(figures(waited)).toEqual(figures(local));
    const answers = (file: string) =>
      read(file)
        .map((line) => ['task_id', 'final_answer'].map((key) => String(line[key])).join(' '))
        .sort();
    expect(answers(path.join(elsewhere, 'answers.jsonl'))).toEqual(
      answers(path.join(folder, 'l', 'answers.jsonl')),
    );
    // The same batch may be collected again.
    expect((await gaia(['--resume', name], temporaryFolder())).code).toBe(0);
  });

  test('of another version or other prompts is left alone, with the reason', async () => {
    const folder = place();
    const other = await queue(folder, '--team', 'single');
    await execute(
      server.url,
      `UPDATE gaia_mesh_queue.batches SET gaia_mesh = '9.9.9' WHERE name = '${other}'`,
    );
    const changed = await queue(folder, '--team', 'single');
    await execute(
      server.url,
      `UPDATE gaia_mesh_queue.batches SET plan = replace(plan::text, '"prompt_version":"', '"prompt_version":"0')::json WHERE name = '${changed}'`,
    );
    const { stdout, stderr } = await work();
    expect(stdout).toBe('Answered 0 questions.\n');
    expect(stderr).toContain(`takes nothing of batch ${other}: it is of Gaia Mesh 9.9.9`);
    expect(stderr).toContain(
      `takes nothing of team single, batch ${changed}: its prompts, tools or model differ`,
    );
    for (const name of [other, changed]) expect((await gaia(['--cancel', name], folder)).code).toBe(0);
    const again = await gaia(['--cancel', other], folder);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is cancelled already')]);
  });

  test('that runs a command of the worker’s machine is refused unless the worker trusts it', async () => {
    const folder = place();
    const name = await queue(folder, '--team', 'single');
    const team = { agents: [{ id: 'ask', tool: 'mcp', options: { command: ['true'] } }] };
    await execute(
      server.url,
      `UPDATE gaia_mesh_queue.batches SET plan = jsonb_set(plan::jsonb, '{teams,0,team,agents}', (plan::jsonb #> '{teams,0,team,agents}') || '${JSON.stringify(team.agents)}'::jsonb)::json WHERE name = '${name}'`,
    );
    const { stdout, stderr } = await work();
    expect(stdout).toBe('Answered 0 questions.\n');
    expect(stderr).toContain('command of agent ask');
    expect(stderr).toContain('--trust-batches');
    expect((await gaia(['--cancel', name], folder)).code).toBe(0);
  });

  test('names files that are too large for it, and missing ones', async () => {
    const folder = place([...QUESTIONS, { task_id: 'big', Question: 'How big?', file_name: 'big.txt' }]);
    writeFileSync(path.join(folder, 'big.txt'), 'x');
    truncateSync(path.join(folder, 'big.txt'), 64 * 1024 * 1024 + 1);
    const { code, stderr } = await gaia(['--questions', 'q.jsonl', '--queue', '--no-wait'], folder);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/big\.txt.*67108865 bytes.*67108864/)]);
  });

  test('needs a Postgres that is there', async () => {
    const folder = place();
    const asked = ['gaia', '--questions', 'q.jsonl', '--queue'];
    const alone = await callCli(asked, { cwd: folder });
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--queue has no effect alone')]);
    const file = await callCli([...asked, '--store', 'x.sqlite'], { cwd: folder });
    expect([file.code, file.stderr]).toEqual([2, expect.stringContaining('needs Postgres')]);
    const resumed = await callCli(['gaia', '--resume', 'b'], { cwd: folder });
    expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining('--store postgres://')]);
  });

  test('is finished by other workers when one is killed in the middle of it', {
    timeout: 120_000,
  }, async () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ ...QUESTIONS[i % 3], task_id: `q${i}` }));
    const folder = place(many);
    const name = await queue(folder, '--team', 'pipeline');
    const args = ['worker', '--store', store, '--slots', '2'];
    const doomed = new Cli(args, { env });
    await expect.poll(() => countFinished(name), { timeout: 60_000 }).toBeGreaterThan(2);
    doomed.signal('SIGKILL');
    const other = new Cli(args, { env });
    const waited = await gaia(['--resume', name, '--json', '--out', 'all.jsonl'], temporaryFolder());
    expect(waited.code, waited.stderr).toBe(0);
    expect(JSON.parse(waited.stdout).teams.pipeline).toMatchObject({ questions: 30, answered: 30 });
    // The first signal lets it finish what it has, which is nothing.
    other.signal('SIGTERM');
    expect((await other.ended()).stdout).toMatch(/^Answered \d+ questions\.\n$/);
  });

  async function countFinished(name: string): Promise<number> {
    const rows = await execute(
      server.url,
      `SELECT count(finished) AS count FROM gaia_mesh_queue.attempts WHERE batch = '${name}'`,
    );
    return Number(rows[0]?.count);
  }
});
