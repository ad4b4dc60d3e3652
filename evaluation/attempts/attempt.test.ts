import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import type { FinishedBatch } from '../batch/finished-batch.ts';
import { createRedactor } from '../batch/redact.ts';
import { attemptOf, endOf, questionOf } from '../batch/testing/results.ts';
import { gaiaTable, planGaia } from '../plan/gaia-plan.ts';
import { submitTeams, writeAnswers } from '../results/write-results.ts';
import { type Attempt, type AttemptKey, attemptSchema } from './attempt.ts';
import { buildAttempt } from './build-attempt.ts';

type AttemptFacts = Parameters<typeof buildAttempt>[1];

const facts = (more: Partial<AttemptFacts> = {}): AttemptFacts => ({
  question: questionOf('q', { truths: ['4'], level: '1' }),
  team: 'panel',
  cycle: 1,
  redact: (text) => text,
  ...more,
});

describe('the result of an attempt', () => {
  test('has the clean answer, is scored officially and leniently, and keeps its level (REQ-007, C-09)', () => {
    expect(buildAttempt(endOf(), facts())).toMatchObject({
      task_id: 'q',
      team: 'panel',
      cycle: 1,
      level: '1',
      status: 'answered',
      final_answer: '4',
      correct: true,
      correct_lenient: true,
      raw_answer: 'FINAL ANSWER: 4',
      prompt_tokens: 10,
      cost_usd: 0.01,
    });
    expect(buildAttempt(endOf({ answer: '4 legs' }), facts())).toMatchObject({
      correct: false,
      correct_lenient: true,
      gap: 'other',
    });
    const aliases = questionOf('q', { truths: ['5', '4'] });
    expect(buildAttempt(endOf(), facts({ question: aliases }))).toMatchObject({ correct: true });
  });

  test('is not scored where nobody knows the answer', () => {
    const result = buildAttempt(endOf(), facts({ question: questionOf('q', { truths: [] }) }));

    expect(result).toMatchObject({ correct: null, correct_lenient: null });
    expect(result.gap).toBeUndefined();
  });

  test('takes the answer out of what was said where the team did not', () => {
    expect(buildAttempt(endOf({ answer: null }), facts())).toMatchObject({
      status: 'answered',
      final_answer: '4',
    });
  });

  test.each([
    ['an empty answer', { answer: ' ', rawAnswer: '' }],
    ['none at all', { answer: null, rawAnswer: null }],
    ['an answer without a trace', { reasoningTrace: ' \n' }],
    [
      'a failure without a reason',
      { status: 'failed' as const, answer: null, rawAnswer: null, reasoningTrace: '' },
    ],
  ])('from %s has neither an empty answer nor an empty trace (RA-12, REQ-071)', (_what, more) => {
    const result = buildAttempt(endOf(more), facts());

    expect(result.final_answer.trim()).not.toBe('');
    expect(result.reasoning_trace.trim()).not.toBe('');
    expect(attemptSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  });

  test('that is empty is a failure, and wrong even where the truth is the word none', () => {
    const question = questionOf('q', { truths: ['None'] });

    expect(buildAttempt(endOf({ answer: '', rawAnswer: null }), facts({ question }))).toMatchObject({
      status: 'failed',
      correct: false,
      correct_lenient: false,
      ...{
        reason: 'the team gave an empty answer',
        final_answer: 'No answer: the team gave an empty answer',
      },
    });
  });

  test('that failed has the exact failure text as answer, names the role, and counts as wrong (C-20, REQ-072)', () => {
    const text = 'The question could not be answered due to researcher failures.';
    const question = questionOf('q', { truths: [text] });
    const reply = endOf({
      status: 'failed',
      answer: text,
      failedRole: 'researcher',
      reason: 'five attempts refused',
    });

    expect(buildAttempt(reply, facts({ question }))).toMatchObject({
      status: 'failed',
      final_answer: text,
      correct: false,
      failed_role: 'researcher',
      reason: 'five attempts refused',
    });
  });

  test('has its texts cut, its keys taken out, and says what became of the file', () => {
    const attachment = { status: 'missing' as const, name: 'x.pdf', reason: 'HTTP 404' };
    const reply = endOf({ reasoningTrace: `key tvly-0123456789abcdef and ${'a'.repeat(2 ** 20)}` });

    const result = buildAttempt(
      reply,
      facts({
        question: questionOf('q', { attachment }),
        redact: createRedactor({ MY_API_KEY: 'opensesame', SHORT_KEY: 'a' }),
      }),
    );

    expect(result.reasoning_trace).toMatch(/^key \[redacted\] and a+ \[cut: \d+ more\]$/);
    expect(result.file).toBe('x.pdf: missing: HTTP 404');
    expect(createRedactor({ MY_API_KEY: 'opensesame', NAME: 'somebody' })('opensesame, somebody')).toBe(
      '[redacted], somebody',
    );
    expect(createRedactor({})('Authorization: Bearer abcdefgh12345678')).toBe(
      'Authorization: Bearer [redacted]',
    );
  });

  test.each([
    ['proprietary_api', {}, { reason: 'web search: TAVILY_API_KEY is not set' }],
    ['web_archive', { question: 'As of the Wayback Machine of 2019, who …?' }, {}],
    ['image_only', { category: 'image' }, {}],
    ['multi_hop', {}, { toolCalls: [{ tool: 'web_search', count: 5, failed: 0 }] }],
    ['other', {}, { toolCalls: [{ tool: 'web_search', count: 4, failed: 0 }] }],
    [
      'other',
      {},
      {
        toolCalls: [{ tool: 'web_search', count: 9, failed: 0 }],
        usage: [
          { role: 'critique', model: 'm', calls: 1, prompt_tokens: 1, completion_tokens: 1, cost_usd: 0 },
        ],
      },
    ],
  ])('that is wrong is filed under %s (OV-47)', (gap, question, reply) => {
    const result = buildAttempt(
      endOf({ status: 'failed', answer: null, rawAnswer: null, reason: 'x', ...reply }),
      facts({ question: questionOf('q', question) }),
    );

    expect(result.gap).toBe(gap);
  });
});

describe('what is written of a result', () => {
  const folder = temporaryFolder();
  /** The finished batch of one team with these attempts, each at a question of its own. */
  const finishedOf = (attempts: readonly Attempt[]) => ({
    head: { teams: [{ name: 'single' }], repeat: 1 } as unknown as FinishedBatch['head'],
    questions: attempts.map(({ task_id }) => questionOf(task_id)),
    read: ({ task_id }: AttemptKey) => attempts.find((one) => one.task_id === task_id),
  });
  const readWritten = (name: string) => JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
  function answerOf(attempt: Attempt) {
    writeAnswers(finishedOf([attempt]), path.join(folder, 'answers.jsonl'));
    return readWritten('answers.jsonl');
  }
  const failed = attemptOf('q', {
    status: 'failed',
    correct: false,
    correct_lenient: false,
    reason: 'why',
    failed_role: 'planner',
  });

  test('is a line with answer and trace, and with what it took (REQ-071, C-10)', () => {
    expect(answerOf(attemptOf('q', { level: '2', cached: true }))).toEqual({
      ...{
        task_id: 'q',
        final_answer: '4',
        reasoning_trace: '1. expert: two and two',
        raw_answer: 'FINAL ANSWER: 4',
      },
      status: 'answered',
      correct: true,
      correct_lenient: true,
      level: '2',
      team: 'single',
      cycle: 1,
      tokens: 10,
      cost: 0.01,
      packets: 2,
      bytes: 100,
      seconds: 0.5,
      cached: true,
    });
    expect(answerOf(failed)).toMatchObject({ reason: 'why', failed_role: 'planner' });
    expect(answerOf(attemptOf('q', { correct: null }))).not.toHaveProperty('correct');
  });

  test('is a leaderboard line (C-10)', () => {
    answerOf(failed);
    expect(readWritten('answers.leaderboard.jsonl')).toEqual({
      task_id: 'q',
      model_answer: '4',
      reasoning_trace: '1. expert: two and two',
    });
  });

  test('is a submission, always with agent_code (C-08, C-10)', async () => {
    const questions = path.join(folder, 'q.jsonl');
    writeFileSync(questions, '{"task_id":"a","question":"?"}');
    const options = gaiaTable.options.parse({
      team: 'single',
      questions,
      out: path.join(folder, 'answers.jsonl'),
      submission: path.join(folder, 'submission.json'),
      username: 'someone',
      agentCode: 'https://example.org/code',
    });
    const plan = await planGaia(options, new AbortController().signal);

    await submitTeams(plan, finishedOf([attemptOf('a'), attemptOf('b', { final_answer: '5' })]), true);
    expect(readWritten('submission.json')).toEqual({
      username: 'someone',
      agent_code: 'https://example.org/code',
      answers: [
        { task_id: 'a', submitted_answer: '4' },
        { task_id: 'b', submitted_answer: '5' },
      ],
    });
  });
});
