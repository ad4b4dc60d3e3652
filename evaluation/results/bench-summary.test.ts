import type { ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import { expect, test } from 'vitest';
import { attemptOf } from '../batch/testing/results.ts';
import { SummaryBuilder } from './bench-summary.ts';

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
    const {
      model_calls: _,
      prompt_tokens: _p,
      completion_tokens: _c,
      cost_usd: _d,
      ...plain
    } = attemptOf('t-1');
    builder.addEarlier(task, { ...plain, status: 'timeout', ...sums });
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
