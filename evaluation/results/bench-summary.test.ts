import type { ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import { expect, test } from 'vitest';
import { findScorer } from '../scorers/scorer.ts';
import { SummaryBuilder } from './bench-summary.ts';
import { buildTaskResult, createTaskScorer } from './task-result.ts';

const task = { taskId: 't-1', question: 'Who?', document: 'Ida.', truths: ['Ida'] };
const models = (n: number, cost_usd: number | null): ModelSums => ({
  model_calls: n,
  prompt_tokens: 100 * n,
  completion_tokens: 10 * n,
  cost_usd,
});

/** The summary of a run that took `now`, and goes on with one that had finished tasks that took `before`. */
function summaryOf(before: readonly (ModelSums | undefined)[], now: ModelSums | undefined) {
  const builder = new SummaryBuilder();
  for (const sums of before) {
    const counts = { bytes_tx: 2, bytes_rx: 1, pkt_cnt: 1, token_sum: 5, init_bytes: 1 };
    const ended = { taskId: 't-1', status: 'timeout', answer: null, elapsedMs: 1, counts } as const;
    const scores = createTaskScorer(findScorer('exact_rouge'))(task, null);
    builder.addEarlier(task, buildTaskResult(task, { outcome: ended, scores, models: sums }));
  }
  const run = { run_id: 'r', team: 'pipeline', adapter: 'json', engine: 'openai', balanced: true };
  return builder.summary(run, { token_sum: 0, bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0, ...now }, 1000);
}

test('a batch that was gone on with has what models took in all its runs, tasks without an answer among them', () => {
  expect(summaryOf([models(2, 0.5), models(1, 0.25)], models(4, 1))).toMatchObject(models(7, 1.75));
  expect(summaryOf([models(2, null)], models(4, 1))).toMatchObject(models(6, null));
});

test('results of runs that did not count it yet add nothing; without a model nothing is said', () => {
  expect(summaryOf([undefined], models(4, 1))).toMatchObject(models(4, 1));
  expect(summaryOf([undefined], undefined)).not.toHaveProperty('model_calls');
});
