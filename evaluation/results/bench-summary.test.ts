import type { ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { expect, test } from 'vitest';
import type { Attempt } from '../attempts/attempt.ts';
import { formatAttemptKey } from '../batch/journal/journal.ts';
import { attemptOf, questionOf } from '../batch/testing/results.ts';
import { summarizeBench } from './bench-summary.ts';

const models = (n: number, cost_usd: number | null): ModelSums => ({
  model_calls: n,
  prompt_tokens: 100 * n,
  completion_tokens: 10 * n,
  cost_usd,
});

/** An attempt that timed out; without sums, no model was asked. */
function timeoutOf(taskId: string, sums: ModelSums | undefined): Attempt {
  const { model_calls, prompt_tokens, completion_tokens, cost_usd, ...plain } = attemptOf(taskId);
  return { ...plain, status: 'timeout', ...sums };
}

/** Summarizes a run that used the model as `now` says, and resumed one whose finished tasks had used it as `before` says. */
function summaryOf(before: readonly (ModelSums | undefined)[], now: ModelSums | undefined) {
  const earlier = before.map((sums, index) => timeoutOf(`t-${index}`, sums));
  const traffic = { token_sum: 0, bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0 };
  const facts = {
    run_id: 'r',
    team: 'single',
    adapter: 'json',
    engine: 'openai',
    ledger: { balanced: true },
  };
  const metrics = { ...facts, ...traffic, ...now } as unknown as RunMetrics;
  return summarizeBench(
    { questions: earlier.map(({ task_id }) => questionOf(task_id)), repeat: 1 },
    { read: ({ task_id }) => earlier.find((attempt) => attempt.task_id === task_id) },
    new Set(earlier.map(formatAttemptKey)),
    { metrics, wallSeconds: 1 },
  ).json;
}

test('a batch that was gone on with has what models took in all its runs, tasks without an answer among them', () => {
  expect(summaryOf([models(2, 0.5), models(1, 0.25)], models(4, 1))).toMatchObject(models(7, 1.75));
  expect(summaryOf([models(2, null)], models(4, 1))).toMatchObject(models(6, null));
});

test('results of runs that did not count it yet add nothing; without a model nothing is said', () => {
  expect(summaryOf([undefined], models(4, 1))).toMatchObject(models(4, 1));
  expect(summaryOf([undefined], undefined)).not.toHaveProperty('model_calls');
});

test('a reply without an answer is an end of its task like any other, and a failure of the run is not', () => {
  const statusOf = (...codes: readonly Attempt['code'][]) => {
    const attempts = codes.map((code, index) => ({
      ...attemptOf(`t-${index}`),
      ...(code === undefined ? {} : { status: 'failed' as const, code }),
    }));
    return summarizeBench(
      { questions: attempts.map(({ task_id }) => questionOf(task_id)), repeat: 1 },
      { read: ({ task_id }) => attempts.find((attempt) => attempt.task_id === task_id) },
      new Set(),
      { metrics: { team: 'single', ledger: { balanced: true } } as unknown as RunMetrics, wallSeconds: 1 },
    ).status;
  };
  expect(statusOf(undefined, 'reply')).toBe('answered');
  expect(statusOf(undefined, 'reply', 'agent')).toBe('failed');
  expect(statusOf('reply', 'reply')).toBe('failed');
});
