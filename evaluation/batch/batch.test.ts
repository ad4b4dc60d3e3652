import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Attempt } from '../attempts/attempt.ts';
import { placeFile } from '../questions/place-file.ts';
import type { Question } from '../questions/question.ts';
import type { TeamCache } from './answer-cache.ts';
import { folder, ids, journal, kept, rightly, run, teamOf, useBatchFolder } from './testing/batch-run.ts';
import { attemptAt, attemptOf, questionOf, type Reply } from './testing/results.ts';

useBatchFolder();

/** A cache in memory: the store's has a contract suite of its own. */
class MemoryCache implements TeamCache {
  readonly entries = new Map<string, Pick<Attempt, 'final_answer' | 'reasoning_trace' | 'took'>>();
  async get(question: Question) {
    return this.entries.get(question.question);
  }
  async put(question: Question, attempt: Attempt) {
    this.entries.set(question.question, attempt);
  }
}

describe('a batch', () => {
  test('asks every question in order, one after the other, and keeps each (SV-03, REQ-073)', async () => {
    const { asked, askTeam } = teamOf();

    const { end } = await run(askTeam, 5);

    expect(end).toEqual({ kind: 'finished' });
    expect(asked).toEqual(ids(5));
    for (const id of ids(5)) expect(kept(id)).toMatchObject({ status: 'answered', correct: true });
  });

  test('has as many questions on their way as it may', async () => {
    let open = 0;
    let most = 0;
    const { askTeam } = teamOf(async (question) => {
      open += 1;
      most = Math.max(most, open);
      for (let turn = 0; turn < 5; turn++) await setImmediate();
      open -= 1;
      return rightly(question);
    });

    await run(askTeam, 20, { concurrency: 4 });

    expect([most, journal.size]).toEqual([4, 20]);
  });

  test('leaves out what the journal has', async () => {
    await run(teamOf().askTeam, 3);
    const { asked, askTeam } = teamOf();

    const { events } = await run(askTeam, 5);

    expect(asked).toEqual(['q3', 'q4']);
    expect(events.filter(({ kind }) => kind === 'kept')).toHaveLength(3);
  });

  test('goes on after a question that failed or ran out of time (C-06, RA-59)', async () => {
    const { askTeam } = teamOf((question) => {
      if (question.taskId === 'q1') return { status: 'failed', answer: null, reason: 'no' };
      if (question.taskId === 'q2') return { status: 'timeout', answer: null };
      return rightly(question);
    });

    const { end } = await run(askTeam, 4);

    expect(end.kind).toBe('finished');
    expect(ids(4).map((id) => kept(id)?.status)).toEqual(['answered', 'failed', 'timeout', 'answered']);
    expect(kept('q1')).toMatchObject({ correct: false, final_answer: 'No answer: no' });
  });

  test('asks all of a cycle before the next one', async () => {
    const { asked, askTeam } = teamOf();

    await run(askTeam, 3, { repeat: 3, concurrency: 2 });

    expect(asked.map((id) => id.split('#')[1] ?? '1')).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3].map(String));
    expect(kept('q1', 3)).toMatchObject({ cycle: 3, correct: true });
  });

  test('places a question’s file before it is asked; one that is missing is told to the team (RA-04, REQ-052)', async () => {
    const seen: unknown[] = [];
    const questions = [questionOf('q0', { fileName: 'none.csv' })];

    const { events } = await run(
      async (question) => {
        seen.push(question.attachment);
        return attemptAt(question, 1, rightly(question));
      },
      1,
      { questions, placeFile: (question, cycle) => placeFile(question, cycle, { root: folder, folder }) },
    );

    const reason = `${path.join(folder, 'none.csv')}: there is no such file`;
    expect(seen).toEqual([{ status: 'missing', name: 'none.csv', reason }]);
    expect(events[0]).toMatchObject({ kind: 'asked', question: { attachment: { reason } } });
    expect(kept('q0')?.file).toBe(`none.csv: missing: ${reason}`);
  });

  test('ends with a bug and does not make an answer of it', async () => {
    const { askTeam } = teamOf((question) => {
      if (question.taskId === 'q2') throw new TypeError('x is not a function');
      return rightly(question);
    });

    await expect(run(askTeam, 5, { concurrency: 2 })).rejects.toThrow('x is not a function');
    expect(kept('q2')).toBeUndefined();
    expect(kept('q0')).toBeDefined();
  });
});

describe('the answer cache in a batch', () => {
  test('is asked before the team and filled after it, before the journal (RA-06)', async () => {
    const order: string[] = [];
    const cache = new (class extends MemoryCache {
      override async get(question: Question) {
        order.push('cache get');
        return super.get(question);
      }
      override async put(question: Question, attempt: Attempt) {
        order.push(`cache put ${attempt.final_answer}`);
        await super.put(question, attempt);
      }
    })();
    await run(
      async (question) => {
        order.push('team');
        return attemptAt(question, 1, { answer: null, rawAnswer: ' 4. ' });
      },
      1,
      { cache, onEvent: ({ kind }) => order.push(kind) },
    );

    expect(order).toEqual(['asked', 'cache get', 'cache', 'team', 'finished', 'cache put 4']);
  });

  test('answers without the team: marked, with no model call, no tokens, in no time (RA-08)', async () => {
    // Time passes only while the cache is asked: a busy machine takes any time between two steps.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const cache = new (class extends MemoryCache {
      override get(question: Question) {
        vi.advanceTimersByTime(3);
        return super.get(question);
      }
    })();
    const took = { tokens: 7, cost: 0.5, packets: 3, bytes: 70, seconds: 2 };
    const then = { final_answer: 'answer of q0', reasoning_trace: 'as then', took };
    await cache.put(questionOf('q0'), attemptOf('q0', then));
    const { asked, askTeam } = teamOf();

    await run(askTeam, 2, { cache });

    expect(asked).toEqual(['q1']);
    expect(kept('q0')).toMatchObject({
      cached: true,
      correct: true,
      reasoning_trace: 'as then',
      raw_answer: null,
      token_sum: 0,
      pkt_cnt: 0,
      bytes_tx: 0,
      bytes_rx: 0,
      elapsed_ms: 3,
      took,
    });
    expect(kept('q0')).not.toHaveProperty('model_calls');
    expect(kept('q1')).not.toHaveProperty('took');
    expect(cache.entries.get('What is q1?')).toEqual(kept('q1'));
  });

  test('keeps no answer that was given without a server or a tool of the team', async () => {
    const cache = new MemoryCache();
    const lost: Reply = {
      answer: 'poor',
      warnings: [{ lost: 'server', where: 'mcp', why: 'gone', agent: '0', times: 1 }],
    };
    await run(teamOf(({ taskId }) => (taskId === 'q0' ? lost : { answer: 'good' })).askTeam, 2, { cache });
    expect([...cache.entries.values()]).toEqual([expect.objectContaining({ final_answer: 'good' })]);
  });

  test('keeps no failure, and is left alone when questions are repeated (C-11)', async () => {
    const cache = new MemoryCache();
    const failing = teamOf(() => ({
      status: 'failed',
      answer: 'The question could not be answered due to planner failures.',
    }));
    await run(failing.askTeam, 1, { cache });
    expect(cache.entries.size).toBe(0);

    await cache.put(questionOf('q1'), attemptOf('q1', { final_answer: 'old' }));
    const { asked, askTeam } = teamOf();
    await run(askTeam, 2, { cache, repeat: 2 });
    expect(asked).toEqual(['q1', 'q0#2', 'q1#2']);
  });

  test('that is lost stops the batch, but the answer that was just found is kept (C-06)', async () => {
    const cache = new (class extends MemoryCache {
      override async put(): Promise<void> {
        throw new MeshError('store', 'database is locked');
      }
    })();

    const { end } = await run(teamOf().askTeam, 3, { cache });

    expect(end).toMatchObject({
      kind: 'stopped',
      reason: expect.stringContaining('the store, team single, question q0'),
    });
    expect([kept('q0')?.status, journal.size]).toEqual(['answered', 1]);
  });
});

test('Ctrl-C keeps what is finished, breaks off the rest, and says so', async () => {
  const interrupt = new AbortController();
  const { asked, askTeam } = teamOf((question) => {
    if (question.taskId === 'q3') {
      interrupt.abort(new MeshError('interrupted', 'interrupted'));
      return { status: 'failed', answer: null, reason: 'interrupted' };
    }
    return rightly(question);
  });

  const { end } = await run(askTeam, 10, { signal: interrupt.signal });

  expect(end).toEqual({ kind: 'interrupted', reason: 'interrupted' });
  expect(asked).toEqual(ids(4));
  expect(journal.size).toBe(3);
  expect(readFileSync(journal.file, 'utf8').split('\n')).toHaveLength(4);
});

test('an answer that comes at the very moment of Ctrl-C is kept', async () => {
  const interrupt = new AbortController();
  const { asked, askTeam } = teamOf((question) => {
    if (question.taskId === 'q3') interrupt.abort(new MeshError('interrupted', 'interrupted'));
    return rightly(question);
  });

  const { end } = await run(askTeam, 10, { signal: interrupt.signal });

  expect(end).toEqual({ kind: 'interrupted', reason: 'interrupted' });
  expect(asked).toEqual(ids(4));
  expect(journal.size).toBe(4);
});
