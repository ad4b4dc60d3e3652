import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attemptOf } from '../batch/testing/results.ts';
import {
  execute,
  type PostgresServer,
  postgresPrograms,
  startPostgres,
} from '../store/testing/postgres-server.ts';
import { loadTeam } from '../teams/load-team.ts';
import { AttemptQueue } from './attempt-queue.ts';
import type { QueuedPlan } from './queued-plan.ts';

const programs = postgresPrograms();
if (programs === undefined)
  console.warn('skipped: the tests of queues need the programs of Postgres (apt-get install postgresql)');

const ids = ['a', 'b', 'c'];
const plan: QueuedPlan = {
  version: 2,
  gaia_mesh: '0',
  teams: [
    { team: loadTeam('single'), model: 'm', prompt_version: 'p', in_order: false },
    { team: { ...loadTeam('single'), name: 'learning' }, model: 'm', prompt_version: 'p', in_order: true },
  ],
  questions: ids.map((taskId) => ({ taskId, question: `${taskId}?`, category: 'text', truths: ['x'] })),
  files: [],
  repeat: 2,
  limits: {},
  setup: { questions: 'abc' },
};

describe.skipIf(programs === undefined && process.env.CI === undefined)('a queue of attempts', () => {
  let server: PostgresServer;
  let queue: AttemptQueue;
  let name = '';
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    // Several machines that start at the same time find an empty database.
    const open = () => AttemptQueue.open(server.url, { warn: () => undefined });
    const [first, ...others] = await Promise.all([open(), open(), open()]);
    queue = first;
    for (const other of others) await other.close();
  });
  afterAll(async () => {
    await queue.close();
    await server.stop();
  });
  beforeEach(async () => {
    name = `batch-${++count}`;
    await queue.addBatch(name, plan);
    await queue.enqueue(name, plan, 'stopped');
  });

  /** Takes all attempts of a team that are waiting. */
  async function claimAll(team = 0, worker = 'w') {
    const claims = [];
    for (;;) {
      const claim = await queue.claim(name, team, worker);
      if (claim === undefined) return claims;
      claims.push(claim);
    }
  }

  /** Makes the workers count as silent for a minute. */
  async function loseWorkers(): Promise<void> {
    await execute(
      server.url,
      "UPDATE gaia_mesh_jobs.job SET heartbeat_on = now() - interval '1 minute' WHERE state = 'active'",
    );
  }

  async function claimSoon(worker: string, expected: object): Promise<void> {
    await expect
      .poll(() => queue.claim(name, 0, worker), { timeout: 20_000, interval: 200 })
      .toMatchObject(expected);
  }

  test('gives each attempt to one worker, cycle by cycle in the order of the questions', async () => {
    const both = await Promise.all([claimAll(0, 'one'), claimAll(0, 'two')]);
    const keys = both.flat().map(({ key }) => `${key.cycle}${key.task_id}`);
    expect(keys.sort()).toEqual(['1a', '1b', '1c', '2a', '2b', '2c']);
    for (const claims of both) {
      const own = claims.map(({ key }) => `${key.cycle}${key.task_id}`);
      expect(own).toEqual([...own].sort());
    }
  });

  test('gives those of a team that learns one at a time', async () => {
    const [first, ...others] = await claimAll(1);
    expect([first?.key, others]).toEqual([{ task_id: 'a', cycle: 1 }, []]);
    if (first !== undefined) await queue.finish(first, attemptOf('a', { team: 'learning' }));
    expect(await queue.claim(name, 1, 'w')).toMatchObject({ key: { task_id: 'b', cycle: 1 } });
  });

  test('queues a batch once, however often it is told to', async () => {
    await queue.enqueue(name, plan, 'open');
    expect(await claimAll()).toHaveLength(6);
  });

  test('keeps results in the order in which they were finished', async () => {
    const claims = await claimAll();
    for (const claim of claims.toReversed())
      expect(await queue.finish(claim, attemptOf(claim.key.task_id, { cycle: claim.key.cycle }))).toBe(true);
    const results = await queue.listResults(name, 0);
    expect(results.map(({ attempt }) => attempt.task_id).join('')).toBe('cbacba');
    expect(await queue.listResults(name, results[4]?.finished ?? 0)).toHaveLength(1);
  });

  test('takes one result of an attempt, from the worker that has it now', async () => {
    const late = await queue.claim(name, 0, 'late');
    if (late === undefined) throw new Error('nothing was waiting');
    const others = await claimAll();
    await loseWorkers();
    for (const claim of others) await queue.finish(claim, attemptOf(claim.key.task_id, claim.key));
    await claimSoon('next', { key: late.key, retryCount: 1 });
    expect(await queue.finish(late, attemptOf('a'))).toBe(false);
    expect(await queue.finish({ ...late, retryCount: 1 }, attemptOf('a'))).toBe(true);
    expect(await queue.finish({ ...late, retryCount: 1 }, attemptOf('a'))).toBe(false);
    expect(await queue.listResults(name, 0)).toHaveLength(6);
  });

  test('names an attempt that three workers did not finish, and takes its failure once', async () => {
    for (let tries = 0; tries < 3; tries++)
      for (const claim of await claimAll(0, `worker ${tries}`))
        if (claim.key.task_id === 'a' && claim.key.cycle === 1)
          await queue.countFailure(claim, `agent ${tries} is gone`);
    // A claim does not wait until the worker's name is stored.
    await expect.poll(async () => (await queue.listRetried(name, 2))[0]?.worker).toBe('worker 2');
    const [dead, ...others] = await queue.listRetried(name, 2);
    expect(others).toEqual([]);
    expect(dead).toMatchObject({ isDead: true, tries: 3, worker: 'worker 2', why: 'agent 2 is gone' });
    if (dead === undefined) return;
    const failure = attemptOf('a', { status: 'failed', code: 'limit' });
    expect([await queue.bury(name, dead, failure), await queue.bury(name, dead, failure)]).toEqual([
      true,
      false,
    ]);
    expect(await queue.listRetried(name, 2)).toEqual([]);
  });

  test('takes back an attempt that was given back as if it had never been taken', async () => {
    const [claim] = await claimAll();
    if (claim === undefined) throw new Error('nothing was waiting');
    await queue.giveBack(claim);
    expect(await queue.claim(name, 0, 'w')).toEqual(claim);
  });

  test('takes nothing back that another worker has by now, or of a batch that was ended', async () => {
    const [late] = await claimAll();
    if (late === undefined) throw new Error('nothing was waiting');
    await queue.countFailure(late, 'its agent is gone');
    const next = await queue.claim(name, 0, 'next');
    expect(next).toEqual({ ...late, retryCount: 1 });
    await queue.giveBack(late);
    expect(await queue.claim(name, 0, 'third')).toBeUndefined();
    expect(await queue.finish({ ...late, retryCount: 1 }, attemptOf('a'))).toBe(true);

    const other = await queue.claim(name, 1, 'w');
    if (other === undefined) throw new Error('nothing was waiting');
    await queue.end(name, 2, 'cancelled');
    await queue.giveBack(other);
    expect(await queue.countLeft(name, 2)).toBe(0);
  });

  test('lists workers while they give signs of life, and forgets those of earlier days', async () => {
    const state = { slots: 2, running: 1, done: 3, refuses: null };
    for (const id of ['here', 'silent', 'old']) await queue.beat({ id, ...state });
    const seen = async (id: string, ago: string) =>
      execute(
        server.url,
        `UPDATE gaia_mesh_queue.workers SET seen = now() - interval '${ago}' WHERE id = '${id}'`,
      );
    await seen('here', `${QUEUE_LIMITS.heartbeatS - 5} seconds`);
    await seen('silent', `${QUEUE_LIMITS.heartbeatS + 1} seconds`);
    await seen('old', '25 hours');
    expect(await queue.listWorkers()).toEqual([{ id: 'here', ...state }]);
    await queue.leave('here');
    expect(await queue.listWorkers()).toEqual([]);
    expect(await execute(server.url, 'SELECT id FROM gaia_mesh_queue.workers')).toEqual([{ id: 'silent' }]);
  });

  test('refuses a batch that is larger than a file of questions may be', async () => {
    const question = {
      taskId: 'a',
      question: 'x'.repeat(QUEUE_LIMITS.planBytes),
      category: 'text',
      truths: [],
    };
    await expect(queue.addBatch('large', { ...plan, questions: [question] })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`at most ${QUEUE_LIMITS.planBytes}`),
    });
  });

  test('asks again what a stopped batch left undone and what its shared cause failed, and nothing else', async () => {
    const [a, b, c] = await claimAll();
    if (a === undefined || b === undefined || c === undefined) throw new Error('too few');
    await queue.finish(a, attemptOf('a'));
    await queue.finish(b, attemptOf('b', { status: 'failed', code: 'engine' }));
    await queue.finish(c, attemptOf('c', { status: 'failed', code: 'limit' }));
    await queue.end(name, 2, 'stopped');
    expect(await queue.claim(name, 0, 'w')).toBeUndefined();

    await queue.enqueue(name, plan, 'stopped');
    expect((await claimAll()).map(({ key }) => `${key.cycle}${key.task_id}`)).toEqual([
      '1b',
      '2a',
      '2b',
      '2c',
    ]);
    expect(await queue.listResults(name, 0)).toHaveLength(2);
  });

  test('has nothing for workers once a batch was cancelled', async () => {
    const claim = await queue.claim(name, 0, 'w');
    await queue.end(name, 2, 'cancelled');
    expect(await queue.claim(name, 0, 'w')).toBeUndefined();
    expect(claim && (await queue.finish(claim, attemptOf('a')))).toBe(false);
    expect((await queue.listOpen()).map((one) => one.name)).not.toContain(name);
  });

  test('returns a file as it was stored, once for the same content', async () => {
    const content = Buffer.from([0, 1, 255, 0]);
    const sha256 = await queue.putFile(content);
    expect(await queue.putFile(content)).toBe(sha256);
    expect(await queue.readFile(sha256)).toEqual(content);
    expect(await queue.readFile('0'.repeat(64))).toBeUndefined();
  });

  test('returns no file whose content is not what its hash says', async () => {
    const sha256 = await queue.putFile(Buffer.from('a text'));
    await execute(
      server.url,
      `UPDATE gaia_mesh_queue.files SET content = 'another one' WHERE sha256 = '${sha256}'`,
    );
    expect(await queue.readFile(sha256)).toBeUndefined();
  });

  test('refuses a batch that is not there, naming others, and a plan that is not one', async () => {
    await expect(queue.readBatch('nothing')).rejects.toThrow(/there is no batch nothing; it has batch-/);
    await execute(
      server.url,
      `UPDATE gaia_mesh_queue.batches SET plan = '{"version":1}' WHERE name = '${name}'`,
    );
    await expect(queue.readBatch(name)).rejects.toThrow(/a row of batches is not as Gaia Mesh writes it/);
  });
});

test('a queue in a file is refused', async () => {
  await expect(AttemptQueue.open('queue.sqlite', { warn: () => undefined })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('needs Postgres'),
  });
});
