import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@gaia-mesh/core/system/random.ts';
import {
  execute,
  postgresPrograms,
  startPostgres,
} from '@gaia-mesh/evaluation/store/testing/postgres-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cli, entry, jsonLines, runCli, temporaryFolder } from '../../testing/cli.ts';

const ATTEMPTS = Number(process.env.GAIA_MESH_TEST_QUESTIONS ?? 1000);
const WORKERS = 4;
const TIMEOUT_MS = 900_000;
const programs = postgresPrograms();

/** Writes questions that the embedded engine answers at once, some of them wrongly. */
function placeQuestions(count: number): string {
  const folder = temporaryFolder();
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      task_id: `q${i}`,
      question: `Who built bridge ${i}?`,
      document: `Bridge ${i} was built by Ida Lund${i}. Its stones came from Tromsø.`,
      answer: i % 3 === 0 ? 'Zoë Müller' : `Ida Lund${i}`,
    }),
  );
  writeFileSync(path.join(folder, 'q.jsonl'), lines.join('\n'));
  return folder;
}

/** Runs the same questions on this machine alone. */
async function runHere(folder: string) {
  const local = await runCli(
    ['gaia', '--questions', 'q.jsonl', '--team', 'single', '--no-cache', '--json', '--out', 'l/a.jsonl'],
    { cwd: folder, patienceMs: TIMEOUT_MS },
  );
  return { figures: readFigures(local.stdout), answers: readAnswers(path.join(folder, 'l', 'a.jsonl')) };
}

function readFigures(json: string): object {
  const { answered, right, accuracy, tokens } = JSON.parse(json).teams.single;
  return { answered, right, accuracy, tokens };
}

const readAnswers = (file: string) =>
  jsonLines(file)
    .map(({ task_id, final_answer }) => `${String(task_id)} ${String(final_answer)}`)
    .sort();

async function countFinished(url: string, batch: string): Promise<{ finished: number; distinct: number }> {
  const [row] = await execute(
    url,
    `SELECT count(finished) AS finished, count(DISTINCT (team, cycle, task_id)) FILTER (WHERE finished IS NOT NULL) AS distinct
     FROM gaia_mesh_queue.attempts WHERE batch = '${batch}'`,
  );
  return { finished: Number(row?.finished), distinct: Number(row?.distinct) };
}

describe.skipIf(programs === undefined)('a queue on this machine', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());

  test('has each attempt once while workers, database and coordinator are killed', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const random = new Random(Date.now() % 2 ** 31);
    const folder = placeQuestions(ATTEMPTS);
    const url = new URL(server.url);
    const env = { PGPASSWORD: url.password };
    url.password = '';
    const store = ['--store', url.href];
    const startWorker = () => new Cli(['worker', '--slots', '2', ...store], { env });
    const queued = await runCli(
      ['gaia', '--questions', 'q.jsonl', '--team', 'single', '--queue', '--no-wait', ...store],
      { cwd: folder, env },
    );
    const [, name = ''] = /Batch (\S+) is queued/.exec(queued.stdout) ?? [];
    expect(name, queued.stderr).not.toBe('');
    const wait = () =>
      new Cli(['gaia', '--resume', name, '--json', '--out', 'all.jsonl', ...store], { cwd: folder, env });
    const workers = Array.from({ length: WORKERS }, startWorker);
    let coordinator = wait();
    const events = [
      { at: ATTEMPTS * 0.25, run: () => server.restart() },
      {
        at: ATTEMPTS * 0.5,
        run: async () => {
          coordinator.signal('SIGKILL');
          await coordinator.ended();
          coordinator = wait();
        },
      },
      { at: ATTEMPTS * 0.7, run: () => server.restart() },
    ];
    let kills = 0;
    for (;;) {
      const { finished } = await countFinished(server.url, name);
      if (finished === ATTEMPTS) break;
      if (events[0] !== undefined && finished >= events[0].at) await events.shift()?.run();
      await sleep(2_000 + random.uniform() * 3_000);
      const index = Math.floor(random.uniform() * WORKERS);
      workers[index]?.signal('SIGKILL');
      workers[index] = startWorker();
      kills += 1;
    }
    const { code, stdout, stderr } = await coordinator.ended(TIMEOUT_MS);
    for (const worker of workers) worker.signal('SIGTERM');
    expect(code, stderr).toBe(0);
    expect(events).toEqual([]);
    expect(kills).toBeGreaterThan(3);
    expect(await countFinished(server.url, name)).toEqual({ finished: ATTEMPTS, distinct: ATTEMPTS });
    const local = await runHere(folder);
    expect(readFigures(stdout)).toEqual(local.figures);
    expect(readAnswers(path.join(folder, 'all.jsonl'))).toEqual(local.answers);
  });
});

const NETS = ['gaia-db', 'gaia-w1', 'gaia-w2'];
const ip = (...args: readonly string[]) => execFileSync('ip', args, { stdio: 'pipe' });

type Run = (...args: readonly string[]) => unknown;

/** Delays packets and loses some in both directions, where the kernel has the module for it. */
function spoil(within: Run, inDb: Run, link: string): void {
  try {
    within('tc', 'qdisc', 'add', 'dev', 'e0', 'root', 'netem', 'delay', '40ms', 'loss', '1%');
    inDb('tc', 'qdisc', 'add', 'dev', link, 'root', 'netem', 'loss', '1%');
  } catch (error) {
    console.warn(`the network of this test is fast and loses nothing: ${String(error)}`);
  }
}

/** Makes a network of three namespaces around a bridge in the first one. */
function makeNetwork(): boolean {
  try {
    for (const name of NETS) ip('netns', 'add', name);
    const inDb = (...args: readonly string[]) => ip('netns', 'exec', NETS[0] ?? '', ...args);
    inDb('ip', 'link', 'add', 'br0', 'type', 'bridge');
    inDb('ip', 'addr', 'add', '10.99.0.1/24', 'dev', 'br0');
    for (const link of ['br0', 'lo']) inDb('ip', 'link', 'set', link, 'up');
    for (const [index, name] of NETS.slice(1).entries()) {
      ip(
        'link',
        'add',
        `v${index}`,
        'netns',
        NETS[0] ?? '',
        'type',
        'veth',
        'peer',
        'name',
        'e0',
        'netns',
        name,
      );
      inDb('ip', 'link', 'set', `v${index}`, 'master', 'br0', 'up');
      const within = (...args: readonly string[]) => ip('netns', 'exec', name, ...args);
      within('ip', 'addr', 'add', `10.99.0.${index + 2}/24`, 'dev', 'e0');
      for (const link of ['e0', 'lo']) within('ip', 'link', 'set', link, 'up');
      spoil(within, inDb, `v${index}`);
    }
    return true;
  } catch (error) {
    console.warn(`skipped: no network namespaces can be made here: ${String(error)}`);
    removeNetwork();
    return false;
  }
}

function removeNetwork(): void {
  for (const name of NETS)
    try {
      ip('netns', 'del', name);
    } catch {
      // It was not made.
    }
}

const hasNetwork = programs !== undefined && makeNetwork();

describe.skipIf(!hasNetwork)('a queue over a network', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    const within = ['ip', 'netns', 'exec', NETS[0] ?? ''];
    server = await startPostgres(programs ?? '', { host: '10.99.0.1', within });
  });
  afterAll(async () => {
    await server.stop();
    removeNetwork();
  });

  test('has the results of a run on one machine', { timeout: TIMEOUT_MS }, async () => {
    const folder = placeQuestions(120);
    const url = new URL(server.url);
    const env = { PGPASSWORD: url.password };
    url.password = '';
    url.searchParams.set('sslmode', 'disable');
    const store = ['--store', url.href];
    const within = (net: string, args: readonly string[]) =>
      new Cli(['netns', 'exec', net, process.execPath, entry, ...args], { program: 'ip', cwd: folder, env });
    const workers = NETS.slice(1).map((net) => within(net, ['worker', '--slots', '2', ...store]));
    const { code, stdout, stderr } = await within(NETS[0] ?? '', [
      ...['gaia', '--questions', 'q.jsonl', '--team', 'single', '--queue', '--json', '--out', 'all.jsonl'],
      ...store,
    ]).ended(TIMEOUT_MS);
    expect(code, stderr + workers.map((one) => one.stderr).join('')).toBe(0);
    for (const worker of workers) worker.signal('SIGTERM');
    for (const worker of workers) expect((await worker.ended()).stdout).toMatch(/^Answered [1-9]/);
    const local = await runHere(folder);
    expect(readFigures(stdout)).toEqual(local.figures);
    expect(readAnswers(path.join(folder, 'all.jsonl'))).toEqual(local.answers);
  });
});
