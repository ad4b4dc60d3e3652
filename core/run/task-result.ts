import * as z from 'zod';
import { type Scorer, scorerNamed } from '../evaluation/scorer.ts';
import { TASK_STATUSES, type TaskOutcome } from '../hub/task-clock.ts';
import type { Task } from '../tasks/task.ts';
import type { ModelSums } from '../usage.ts';

const measureSchema = z.number().nullable();

/** One task's result: a line of `results.jsonl`. Quality is null where no true answer is known (decided). */
export const taskResultSchema = z.strictObject({
  task_id: z.string(),
  answer: z.string().nullable(),
  truth: z.string().nullable(),
  exact_match: measureSchema,
  rouge_l: measureSchema,
  quality_score: measureSchema,
  normalized_em: measureSchema,
  f1: measureSchema,
  token_sum: z.number(),
  bytes_tx: z.number(),
  bytes_rx: z.number(),
  pkt_cnt: z.number(),
  elapsed_ms: z.number(),
  status: z.enum(TASK_STATUSES),
  /**
   * What models took for it, by their servers' own figures, whatever became of it; only in runs with a model. `token_sum` is what
   * packets said, and so less where a task ended before they were sent.
   */
  model_calls: z.number().exactOptional(),
  prompt_tokens: z.number().exactOptional(),
  completion_tokens: z.number().exactOptional(),
  /** US dollars; null where a price is not known. */
  cost_usd: measureSchema.exactOptional(),
  /** What stood in the way of an answer. */
  reason: z.string().exactOptional(),
  /** Measures of the team's scorer, where it is another than the two above. */
  scores: z.record(z.string(), measureSchema).exactOptional(),
});

export type TaskResult = Readonly<z.infer<typeof taskResultSchema>>;

const exactRouge = scorerNamed('exact_rouge');
const squad = scorerNamed('squad');

/** Scores an outcome. No answer scores 0 against a known truth: the denominator is every task that was tried. */
export function taskResult(task: Task, outcome: TaskOutcome, scorer: Scorer, models?: ModelSums): TaskResult {
  const measure = (by: Scorer): Record<string, number | null> => {
    const [first, ...others] = task.truths;
    if (first === undefined) return Object.fromEntries(by.measures.map((name) => [name, null]));
    return by.score(outcome.answer, [first, ...others]);
  };
  const quality = measure(exactRouge);
  const words = measure(squad);
  const isOther = scorer !== exactRouge && scorer !== squad;
  return {
    task_id: task.taskId,
    answer: outcome.answer,
    truth: task.truths[0] ?? null,
    exact_match: quality.exact_match ?? null,
    rouge_l: quality.rouge_l ?? null,
    quality_score: quality.quality_score ?? null,
    normalized_em: words.normalized_em ?? null,
    f1: words.f1 ?? null,
    token_sum: outcome.counts.token_sum,
    bytes_tx: outcome.counts.bytes_tx,
    bytes_rx: outcome.counts.bytes_rx,
    pkt_cnt: outcome.counts.pkt_cnt,
    elapsed_ms: round(outcome.elapsedMs),
    status: outcome.status,
    ...models,
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    ...(isOther ? { scores: measure(scorer) } : {}),
  };
}

/** Milliseconds to the microsecond: what a monotonic clock can tell. */
export function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
