import type { Question } from '../../questions/question.ts';
import type { GaiaResult } from '../../results/gaia-result.ts';
import type { Batch } from '../batch.ts';
import type { TeamReply } from '../teams/team-reply.ts';

/** Small real values for tests; unspecified fields have plain values. */

export const plainBatch = {
  team: 'single',
  repeat: 1,
  limits: { question: {}, run: {} },
  placeFile: async (question) => question,
  clean: (raw) => raw,
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

export function replyOf(more: Partial<TeamReply> = {}): TeamReply {
  return {
    status: 'answered',
    rawAnswer: 'FINAL ANSWER: 4',
    answer: '4',
    reasoningTrace: '1. expert: two and two',
    usage: [],
    toolCalls: [],
    tokens: 10,
    costUsd: 0.01,
    packets: 2,
    bytes: 100,
    seconds: 0.5,
    modelCalls: 1,
    ...more,
  };
}

export function resultOf(taskId: string, more: Partial<GaiaResult> = {}): GaiaResult {
  return {
    task_id: taskId,
    team: 'single',
    cycle: 1,
    category: 'text',
    status: 'answered',
    final_answer: '4',
    raw_answer: 'FINAL ANSWER: 4',
    reasoning_trace: '1. expert: two and two',
    correct: true,
    correct_lenient: true,
    cached: false,
    tokens: 10,
    cost: 0.01,
    packets: 2,
    bytes: 100,
    seconds: 0.5,
    model_calls: 1,
    usage: [],
    tool_calls: [],
    ended_at: 1,
    ...more,
  };
}
