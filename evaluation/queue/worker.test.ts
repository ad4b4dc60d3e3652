import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Attempt } from '../attempts/attempt.ts';
import { MeshTeam } from '../batch/teams/mesh-team.ts';
import { attemptOf } from '../batch/testing/results.ts';
import { planTeam } from '../plan/team-options.ts';
import { loadTeam } from '../teams/load-team.ts';
import type { AttemptQueue, Claim } from './attempt-queue.ts';
import type { QueuedPlan } from './queued-plan.ts';
import { waitOutFaults } from './wait-out-faults.ts';
import { Worker } from './worker.ts';

const CONTENT = Buffer.from('the content');
/** Its digest, by sha256sum. */
const SHA256 = '6e569e05cb6f8608572c79d63b365dc31617bf84d7393d2cb9d2f1ffe0edf95b';
const claim = (task_id: string): Claim => ({
  id: task_id,
  retryCount: 0,
  batch: 'batch',
  team: 0,
  key: { task_id, cycle: 1 },
});

let cache = '';
beforeEach(() => {
  cache = temporaryFolder();
  vi.stubEnv('XDG_CACHE_HOME', cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

type Ask = MeshTeam['ask'];

/** Runs a worker on a batch of question `q` until nothing is left, with agents that answer as `ask` says. */
async function work(
  ask: Ask,
  { isStored = true, version = packageVersion, isKept = true, aborting = new AbortController() } = {},
) {
  const team = loadTeam('single');
  const { fingerprint } = await planTeam(team, {}, temporaryFolder());
  const question = { taskId: 'q', question: '?', category: 'text', truths: ['x'], fileName: 'note.txt' };
  const plan: QueuedPlan = {
    version: 2,
    gaia_mesh: packageVersion,
    teams: [{ team, model: fingerprint.model, prompt_version: fingerprint.promptVersion, in_order: false }],
    questions: [question],
    files: [{ name: 'note.txt', sha256: SHA256, bytes: CONTENT.length }],
    repeat: 1,
    limits: {},
    setup: {},
  };
  const waiting = [claim('q')];
  const queue = {
    location: 'postgres://here',
    listOpen: async () => [{ name: 'batch', gaia_mesh: version }],
    readBatch: async () => ({ plan, state: 'open' }),
    claim: async () => waiting.shift(),
    readFile: async () => (isStored ? CONTENT : undefined),
    finish: vi.fn(async (_claim: Claim, _attempt: Attempt) => isKept),
    giveBack: vi.fn(async () => undefined),
    countFailure: vi.fn(async (_claim: Claim, _why: string) => undefined),
    touch: async () => undefined,
    beat: async () => undefined,
    leave: vi.fn(async () => undefined),
  };
  const close = vi.fn(async () => undefined);
  const asked = vi.fn(ask);
  vi.restoreAllMocks();
  const started = vi.spyOn(MeshTeam, 'start').mockResolvedValue({ ask: asked, close } as unknown as MeshTeam);
  const said: string[] = [];
  const worker = new Worker(queue as unknown as AttemptQueue, {
    slots: 1,
    store: '',
    out: temporaryFolder(),
    trusts: false,
    idleMs: 0,
    observer: {},
    say: (text) => said.push(text),
    stopping: aborting.signal,
    aborting: aborting.signal,
  });
  const done = await worker.run();
  expect(queue.leave).toHaveBeenCalledExactlyOnceWith(worker.id);
  expect(close, 'its agents are left running').toHaveBeenCalledTimes(started.mock.calls.length);
  return { ...queue, asked, started, said: said.join('\n'), done };
}

const answer: Ask = async ({ taskId }) => attemptOf(taskId);

describe('a worker', () => {
  test('answers with the file that the batch has, and finishes the attempt', async () => {
    const { asked, finish, done } = await work(answer);
    expect(asked.mock.calls[0]?.[0].attachment).toMatchObject({ status: 'placed', bytes: CONTENT.length });
    expect(finish.mock.calls).toEqual([[claim('q'), expect.objectContaining({ task_id: 'q' })]]);
    expect(done).toBe(1);
  });

  test('asks nothing about a file that is not in the database as it was stored, and keeps none of it', async () => {
    const { asked, finish, countFailure, done } = await work(answer, { isStored: false });
    expect(asked).not.toHaveBeenCalled();
    expect(finish).not.toHaveBeenCalled();
    expect(countFailure.mock.calls).toEqual([
      [claim('q'), expect.stringContaining('note.txt is not there as it was stored')],
    ]);
    expect(existsSync(path.join(cache, 'gaia-mesh', 'files', SHA256, 'note.txt'))).toBe(false);
    expect(done).toBe(0);
  });

  test('counts no answer that another worker gave meanwhile', async () => {
    const { done, said } = await work(answer, { isKept: false });
    expect([done, said]).toEqual([0, expect.stringContaining('this answer is dropped')]);
  });

  test('gives an attempt back that an abort ended, without a failure; an answer that came all the same is kept', async () => {
    const aborting = new AbortController();
    const cut = await work(
      async ({ taskId }) => {
        aborting.abort();
        return attemptOf(taskId, { status: 'failed' });
      },
      { aborting },
    );
    expect(cut.giveBack.mock.calls).toEqual([[claim('q')]]);
    expect([cut.finish.mock.calls, cut.countFailure.mock.calls, cut.done]).toEqual([[], [], 0]);

    const late = new AbortController();
    const kept = await work(
      async ({ taskId }) => {
        late.abort();
        return attemptOf(taskId);
      },
      { aborting: late },
    );
    expect([kept.finish.mock.calls.length, kept.giveBack.mock.calls.length]).toEqual([1, 0]);
  });

  test('counts a try of a question whose agents are gone, without the keys in the reason', async () => {
    vi.stubEnv('SOME_API_KEY', 'a-key-that-is-secret');
    const { finish, countFailure, giveBack } = await work(async () => {
      throw new MeshError('agent', 'agent 1 is gone with a-key-that-is-secret');
    });
    expect(countFailure.mock.calls).toEqual([[claim('q'), 'agent 1 is gone with [redacted]']]);
    expect([finish.mock.calls, giveBack.mock.calls]).toEqual([[], []]);
  });

  test('starts no agents for a batch of another version', async () => {
    const { started, said, done } = await work(answer, { version: '0.0.0' });
    expect(started).not.toHaveBeenCalled();
    expect([done, said]).toEqual([0, expect.stringContaining('it is of Gaia Mesh 0.0.0')]);
  });
});

test.each([
  new MeshError('usage', 'no such batch'),
  new MeshError('config', 'no such package'),
  new TypeError('a bug'),
])('a fault that no wait mends is thrown at once: %s', async (error) => {
  const call = vi.fn(() => Promise.reject(error));
  const said: string[] = [];
  const waiting = waitOutFaults(call, (text) => said.push(text), new AbortController().signal);
  await expect(waiting).rejects.toBe(error);
  expect([call.mock.calls.length, said]).toEqual([1, []]);
});
