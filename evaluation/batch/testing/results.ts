import path from 'node:path';
import type { TaskEnd } from '@gaia-mesh/core/run/run-options.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import type { Attempt } from '../../attempts/attempt.ts';
import { buildAttempt } from '../../attempts/build-attempt.ts';
import { buildBatchHead } from '../../plan/run-plan.ts';
import type { Question } from '../../questions/question.ts';
import { createTaskScorer } from '../../scorers/scorer.ts';
import { loadTeam } from '../../teams/load-team.ts';
import type { Batch } from '../batch.ts';
import type { BatchHead } from '../journal/batch-head.ts';
import { Journal } from '../journal/journal.ts';

/** Small real values for tests; unspecified fields have plain values. */

export const plainBatch = {
  team: 'single',
  repeat: 1,
  limits: {},
  placeFile: async (question) => question,
  score: createTaskScorer('gaia'),
  redact: (text) => text,
} satisfies Partial<Batch>;

export function questionOf(taskId: string, more: Partial<Question> = {}): Question {
  return {
    taskId,
    question: `What is ${taskId}?`,
    category: 'text',
    truths: [`answer of ${taskId}`],
    ...more,
  };
}

/** Opens the journal of a batch of one team, `journal` in a folder, with its head beside it. */
export function openTestJournal(
  folder: string,
  resumes: boolean,
  fingerprint: BatchHead['setup'] = {},
): Journal {
  const [answers = '', head = '', journal = ''] = ['answers.jsonl', 'batch.json', 'journal'].map((name) =>
    path.join(folder, name),
  );
  const plan = { paths: { answers, head, journal, store: '' }, fingerprint, repeat: 1, questions: [] };
  const teams = [{ team: loadTeam('single'), concurrency: 1 }];
  return Journal.open(plan.paths, buildBatchHead({ ...plan, teams }), resumes);
}

/** The outcome of a question; omitted fields have plain values. */
export interface Reply {
  readonly status?: TaskEnd['status'];
  readonly reason?: string;
  readonly answer?: string | null;
  readonly rawAnswer?: string | null;
  readonly reasoningTrace?: string;
  readonly failedRole?: string;
  readonly code?: Attempt['code'];
  readonly warnings?: TaskEnd['warnings'];
  readonly usage?: TaskEnd['usage'];
  readonly toolCalls?: Attempt['tool_calls'];
  readonly tokens?: number | null;
  readonly costUsd?: number | null;
}

/** The end of a task at which a team took ten tokens and a cent. */
export function endOf({ tokens = 10, costUsd = 0.01, ...more }: Reply = {}): TaskEnd {
  const { status = 'answered', reason, answer = '4', warnings = [], usage = [] } = more;
  const { rawAnswer = status === 'answered' ? 'FINAL ANSWER: 4' : null } = more;
  return {
    ...{ taskId: 'q', status, reason, answer, warnings, usage, elapsedMs: 500, tokenLedger: undefined },
    scores: {},
    counts: { bytes_tx: 60, bytes_rx: 40, pkt_cnt: 2, token_sum: 0, init_bytes: 0 },
    models: { model_calls: 1, prompt_tokens: tokens, completion_tokens: 0, cost_usd: costUsd },
    final: {
      raw_answer: rawAnswer ?? '',
      reasoning_trace: more.reasoningTrace ?? '1. expert: two and two',
      ...omitUndefined({ failed_role: more.failedRole, code: more.code }),
      tool_calls: [...(more.toolCalls ?? [])],
    },
  };
}

/** An attempt at a question that ended in this way. */
export const attemptAt = (question: Question, cycle: number, more: Reply = {}): Attempt =>
  buildAttempt(endOf(more), { question, cycle, team: 'single', redact: (text) => text });

/** The resources that an attempt took, in the units of a summary. */
interface Use {
  readonly tokens?: number | null;
  readonly cost?: number | null;
  readonly packets?: number;
  readonly bytes?: number;
  readonly seconds?: number;
  readonly cached?: boolean | undefined;
}

export function attemptOf(taskId: string, given: Omit<Partial<Attempt>, 'cached'> & Use = {}): Attempt {
  const { tokens = 10, cost = 0.01, packets = 2, bytes = 100, seconds = 0.5, cached, ...more } = given;
  return {
    ...{ task_id: taskId, team: 'single', cycle: 1, category: 'text', truth: `answer of ${taskId}` },
    ...{ status: 'answered', answer: '4', final_answer: '4', raw_answer: 'FINAL ANSWER: 4' },
    reasoning_trace: '1. expert: two and two',
    ...{ correct: true, correct_lenient: true },
    ...{ exact_match: 1, rouge_l: 1, quality_score: 1, normalized_em: 1, f1: 1 },
    ...{ token_sum: tokens ?? 0, pkt_cnt: packets, bytes_tx: bytes, bytes_rx: 0, elapsed_ms: seconds * 1000 },
    ...{ model_calls: 1, prompt_tokens: tokens === null ? null : 0, completion_tokens: 0, cost_usd: cost },
    ...{ usage: [], tool_calls: [], cached: cached === true ? true : undefined, ended_at: 1 },
    ...more,
  };
}
