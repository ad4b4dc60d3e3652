import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describe, expect, test, vi } from 'vitest';
import type { Question } from '../questions/question.ts';
import { SharedCause } from './batch.ts';
import { Spending } from './limits.ts';
import {
  ids,
  journal,
  kept,
  reopenJournal,
  rightly,
  run,
  teamOf,
  untilAborted,
  useBatchFolder,
} from './testing/batch-run.ts';
import { attemptOf, type Reply } from './testing/results.ts';

useBatchFolder();

describe('limits', () => {
  test('of a question: time is held while it is asked', async () => {
    const { end } = await run(untilAborted, 2, { limits: { questionTime: 0.01 } });

    expect(end.kind).toBe('finished');
    expect(kept('q1')).toMatchObject({
      status: 'timeout',
      reason: "no answer within the question's 0.01 s",
      correct: false,
    });
  });

  test.each([
    ['tokens', { questionTokens: 9 }, 'it used 10 tokens; the limit for a question is 9'],
    ['cost', { questionCost: 0.009 }, 'it cost $0.01; the limit for a question is $0.009'],
  ])('of a question: more %s than it may take is a failure (REQ-082)', async (_what, limits, reason) => {
    await run(teamOf().askTeam, 1, { limits });

    expect(kept('q0')).toMatchObject({
      status: 'failed',
      reason,
      ended: 'answered',
      prompt_tokens: 10,
      correct: false,
    });
  });

  test('of a question: it may take the whole of it', async () => {
    await run(teamOf().askTeam, 1, { limits: { questionTokens: 10, questionCost: 0.01 } });
    expect(kept('q0')).toMatchObject({ status: 'answered' });
  });

  test.each([
    ['tokens', { maxTokens: 30 }, 'the run used 30 of 30 tokens (--max-tokens)'],
    ['cost', { maxCost: 0.03 }, 'the run cost $0.0300 of $0.03 (--max-cost)'],
  ])(
    'of the run: no further question is asked when %s are used up, and a larger one resumes (REQ-082)',
    async (_what, limits, reason) => {
      const first = await run(teamOf().askTeam, 5, { limits });
      expect(first.end).toEqual({ kind: 'limit', reason, isUsedUp: true });
      expect(journal.size).toBe(3);

      const again = await run(teamOf().askTeam, 5, { limits });
      expect([again.end.kind, journal.size]).toEqual(['limit', 3]);

      const { asked, askTeam } = teamOf();
      expect((await run(askTeam, 5)).end.kind).toBe('finished');
      expect(asked).toEqual(['q3', 'q4']);
    },
  );

  test.each([
    [{ maxTokens: 1000 }, { tokens: null }, '--max-tokens cannot be enforced'],
    [{ maxCost: 1 }, { costUsd: null }, '--max-cost cannot be enforced'],
  ])('of the run: %j ends it where a reply does not say %j', async (limits, unknown, reason) => {
    const { end } = await run(teamOf(() => unknown).askTeam, 5, {
      concurrency: 1,
      limits,
    });

    expect(end).toEqual({ kind: 'limit', reason: expect.stringContaining(reason), isUsedUp: true });
    expect(journal.size).toBe(1);
  });

  test('of the run: teams share it, and an attempt counts once', async () => {
    const limits = { maxTokens: 60 };
    const spending = new Spending(limits);
    expect((await run(teamOf().askTeam, 4, { limits, spending })).end.kind).toBe('finished');
    expect((await run(teamOf().askTeam, 4, { limits, spending })).end.kind).toBe('finished');

    const { asked, askTeam } = teamOf();
    const { end } = await run(async (...args) => ({ ...(await askTeam(...args)), team: 'react' }), 4, {
      limits,
      spending,
      team: 'react',
    });
    expect(end).toMatchObject({ kind: 'limit', reason: 'the run used 60 of 60 tokens (--max-tokens)' });
    expect(asked).toEqual(['q0', 'q1']);
  });

  test('of the run: answers from the cache take nothing of them, whatever they once took', () => {
    const spending = new Spending({ maxTokens: 10 });
    spending.add(attemptOf('a', { cached: true, tokens: 50 }));
    expect(spending.reached()).toBeUndefined();
    spending.add(attemptOf('b', { tokens: 50 }));
    expect(spending.reached()).toContain('50 of 10 tokens');
  });

  test('of the run: when its time is up, what is on its way is broken off and not kept', async () => {
    const { end } = await run(untilAborted, 4, {
      concurrency: 2,
      limits: { maxTime: 0.01 },
    });

    expect(end).toEqual({ kind: 'limit', reason: 'the run reached its limit of 0.01 s (--max-time)' });
    expect(journal.size).toBe(0);
  });
});

describe('a cause that is every question’s', () => {
  const failed: Reply = { status: 'failed', answer: null, reason: 'no server at :11434', code: 'engine' };
  const gone = (question: Question) => (Number(question.taskId.slice(1)) < 4 ? rightly(question) : failed);

  test('such as a model that is gone stops the batch after three in a row, names it, and asks all three again (REQ-067)', async () => {
    const { asked, askTeam } = teamOf(gone);

    const { end } = await run(askTeam, 20);

    expect(asked).toEqual(ids(7));
    expect(end).toMatchObject({ kind: 'stopped', error: { code: 'engine' } });
    expect(end).toMatchObject({
      reason:
        'the model, team single, question q6 (What is q6?): 3 questions in a row failed, the last one: no server at :11434',
    });
    expect(journal.size).toBe(7);
    reopenJournal();
    expect(journal.size).toBe(4);

    const again = teamOf();
    expect((await run(again.askTeam, 20)).end.kind).toBe('finished');
    expect(again.asked).toEqual(ids(20).slice(4));
  });

  test('is not ruled out by an answer that was on its way when it began', async () => {
    const late = Promise.withResolvers<void>();
    const { askTeam } = teamOf((question) => (question.taskId === 'q0' ? rightly(question) : failed));
    let asked = 0;
    const asking: typeof askTeam = async (question, ...rest) => {
      asked += 1;
      // The answer of q0 comes after two failures, and before the third.
      if (question.taskId === 'q0') await late.promise;
      else if (asked === 4) {
        late.resolve();
        await vi.waitFor(() => expect(kept('q0')).toBeDefined());
      }
      return askTeam(question, ...rest);
    };

    expect((await run(asking, 12, { concurrency: 2 })).end.kind).toBe('stopped');
    reopenJournal();
    expect(ids(12).filter((id) => kept(id) !== undefined)).toEqual(['q0']);
  });

  test('is none while other questions are answered in between: then they failed (C-06)', async () => {
    const { askTeam } = teamOf((question) =>
      Number(question.taskId.slice(1)) % 3 === 0
        ? rightly(question)
        : { ...failed, reason: 'context too long' },
    );

    const { end } = await run(askTeam, 9);

    expect(end.kind).toBe('finished');
    expect(ids(9).filter((id) => kept(id)?.status === 'failed')).toHaveLength(6);
  });

  test.each([
    [1, 1],
    [2, 1],
    [1, 2],
  ])(
    'of all of %i questions in %i cycles stops the batch, whose zeros would be no figures',
    async (count, repeat) => {
      const { askTeam } = teamOf(() => failed);
      const { end } = await run(askTeam, count, { repeat });
      expect(end).toMatchObject({
        kind: 'stopped',
        reason: expect.stringMatching(/^the model, team single, question q\d .*no server at :11434$/),
      });
    },
  );

  test('of all questions but one, which was out of time or from an earlier run, ends it as it would otherwise', async () => {
    const first = teamOf((question) =>
      question.taskId === 'q0' ? { ...failed, status: 'timeout' } : failed,
    );
    expect((await run(first.askTeam, 2)).end.kind).toBe('finished');
    reopenJournal();
    const second = teamOf((question) => (question.taskId === 'q1' ? failed : rightly(question)));
    expect((await run(second.askTeam, 2)).end.kind).toBe('finished');
    expect((await run(teamOf(() => failed).askTeam, 2)).end.kind).toBe('finished');
  });

  test.each([
    [9, 'finished', 12],
    [12, 'stopped', 10],
  ])('where %i in a row fail, each with a cause of its own: %s', async (count, end, asked) => {
    const reasons = ['HTTP 500: out of range', 'the connection was lost (3 times)', 'HTTP 500: bad token'];
    const team = teamOf((question) => {
      const number = Number(question.taskId.slice(1));
      return number < count ? { ...failed, reason: reasons[number % 3] ?? '' } : rightly(question);
    });
    expect((await run(team.askTeam, 12)).end.kind).toBe(end);
    expect(team.asked).toEqual(ids(asked));
  });

  test.each([
    ['a full disk', 'io', 'files'],
    ['a lost hub', 'agent', 'the agents'],
    ['a lost store', 'store', 'the store'],
  ] as const)('such as %s stops it at once (REQ-067)', async (_what, code, component) => {
    const { asked, askTeam } = teamOf((question) => {
      if (question.taskId === 'q2') throw new MeshError(code, 'it is gone');
      return rightly(question);
    });

    const { end } = await run(askTeam, 5);

    expect(asked).toEqual(['q0', 'q1', 'q2']);
    expect(end).toMatchObject({
      kind: 'stopped',
      reason: expect.stringContaining(`${component}, team single, question q2`),
    });
    expect(journal.size).toBe(2);
  });
});

test.each([
  ['an answer from the cache', { cached: true }, true],
  ['a question that was out of time', { status: 'timeout' }, true],
  ['an answer', {}, false],
] as const)(
  'a model that fails three times counts as gone with %s in between: %s',
  (_what, between, isGone) => {
    const cause = new SharedCause();
    const fail = () =>
      cause.judge(attemptOf('a', { status: 'failed', code: 'engine', reason: 'no model' }), cause.failures);
    fail();
    fail();
    cause.judge(attemptOf('b', between), cause.failures);
    fail();
    expect(cause.error !== undefined).toBe(isGone);
  },
);
