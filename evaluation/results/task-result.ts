import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import { modelSumsSchema } from '@gaia-mesh/core/contracts/usage.ts';
import { formatWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { TASK_STATUSES, type TaskOutcome } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import { toMicroseconds } from '@gaia-mesh/core/run/metrics/metrics.ts';
import type { Scores } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { TaskRunResult } from '@gaia-mesh/core/run/run-options.ts';
import * as z from 'zod';
import { findScorer, type Scorer } from '../scorers/scorer.ts';

const score = (description: string) => z.number().min(0).max(1).nullable().describe(description);
const count = (description: string) => z.int().nonnegative().describe(description);

/** One task's result: a line of `results.jsonl`. Scores are null if no true answer is known (decided). */
export const taskResultSchema = z.strictObject({
  task_id: z.string().describe('id of the task'),
  answer: z.string().nullable().describe('the final answer; null where there is none'),
  truth: z.string().nullable().describe('the true answer; null where none is known'),
  exact_match: score('1 where the answer is exactly the true one, white space around it aside'),
  rouge_l: score('ROUGE-L (F) of the answer'),
  quality_score: score('mean of exact_match and rouge_l'),
  normalized_em: score('exact match as SQuAD normalises it: case, punctuation and articles aside'),
  f1: score('F1 over words, as SQuAD has it'),
  token_sum: count(
    'tokens that packets reported; less than models took where the task ended before they were sent',
  ),
  bytes_tx: count(
    'bytes that the hub wrote for packets of the task: whole frames, each copy, the broadcast of the document among them',
  ),
  bytes_rx: count('bytes that the hub read of its packets: whole frames'),
  pkt_cnt: count('packets that agents sent'),
  elapsed_ms: z
    .number()
    .nonnegative()
    .describe('milliseconds from the broadcast to the final answer, or to the end without one'),
  status: z.enum(TASK_STATUSES).describe('how it ended'),
  ...modelSumsSchema.shape,
  cached: z.literal(true).exactOptional().describe('the answer was taken from the cache, and took nothing'),
  reason: z.string().optional().describe('why there is no answer'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('what was lost of servers, agents and models outside of the mesh, in words'),
  scores: z
    .record(z.string(), z.number().nullable())
    .optional()
    .describe("measures of the team's scorer by name; only where it is another than the two above"),
});

export type TaskResult = Readonly<z.infer<typeof taskResultSchema>>;

/** A task's result without its texts: the mesh's counts and the scores. */
export const meshResultSchema = taskResultSchema.omit({ answer: true, truth: true, reason: true });
export type MeshResult = Readonly<z.infer<typeof meshResultSchema>>;

const always = [findScorer('exact_rouge'), findScorer('squad')];

/**
 * Creates a scorer that applies the two measures that every result has, and the team's own. A missing answer scores 0 if the
 * truth is known.
 */
export function createTaskScorer(own: Scorer): (task: Pick<Task, 'truths'>, answer: string | null) => Scores {
  const scorers = [...new Set([...always, own])];
  return ({ truths: [first, ...others] }, answer) =>
    Object.assign(
      {},
      ...scorers.map(({ measures, score }) =>
        first === undefined
          ? Object.fromEntries(measures.map((name) => [name, null]))
          : score(answer, [first, ...others]),
      ),
    );
}

/** Returns the outcome of a task that was answered from the cache, which took nothing. */
export function createCachedOutcome(taskId: string, answer: string, seconds: number): TaskOutcome {
  const counts = { bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0, token_sum: 0, init_bytes: 0 };
  return { taskId, status: 'answered', answer, elapsedMs: seconds * 1000, counts };
}

/** Builds a task's line of `results.jsonl`. */
export function buildTaskResult(
  task: Pick<Task, 'taskId' | 'truths'>,
  {
    outcome,
    scores,
    models,
    warnings = [],
  }: Pick<TaskRunResult, 'outcome' | 'scores' | 'models'> & Partial<Pick<TaskRunResult, 'warnings'>>,
): TaskResult {
  const { exact_match = null, rouge_l = null, quality_score = null, ...others } = scores;
  const { normalized_em = null, f1 = null, ...own } = others;
  const { token_sum, bytes_tx, bytes_rx, pkt_cnt } = outcome.counts;
  return {
    task_id: task.taskId,
    answer: outcome.answer,
    truth: task.truths[0] ?? null,
    exact_match,
    rouge_l,
    quality_score,
    normalized_em,
    f1,
    token_sum,
    bytes_tx,
    bytes_rx,
    pkt_cnt,
    elapsed_ms: toMicroseconds(outcome.elapsedMs),
    status: outcome.status,
    ...models,
    reason: outcome.reason,
    warnings: warnings.length === 0 ? undefined : warnings.map(formatWarning),
    scores: Object.keys(own).length === 0 ? undefined : own,
  };
}
