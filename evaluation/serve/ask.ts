import * as z from 'zod';
import { type Attempt, getUse } from '../attempts/attempt.ts';

/** Request and answer of a served team, the same over MCP and A2A. */

/** Maximum characters of a question: far above any that people write. */
const MAX_QUESTION_CHARACTERS = 64 * 1024;

export const askSchema = z.strictObject({
  question: z
    .string()
    .min(1)
    .max(MAX_QUESTION_CHARACTERS)
    .refine((text) => text.trim() !== '', 'must say something')
    .describe('The question, in words'),
  document: z.string().optional().describe('A text that the question is about, as plain text'),
});
export type AskRequest = z.infer<typeof askSchema>;

export const answerSchema = z.strictObject({
  answer: z.string().nullable().describe('What the team answered; null where it has no answer'),
  status: z.enum(['answered', 'timeout', 'failed']).describe('How the task ended'),
  reason: z.string().optional().describe('What stood in the way of an answer'),
  task_id: z.string().describe('The task in the logs and the archive of the team'),
  elapsed_ms: z.number().nonnegative().describe('Milliseconds from the first packet to the end'),
  packets: z.int().nonnegative().describe('Packets that its agents sent'),
  bytes: z.int().nonnegative().describe('Bytes of its frames that the hub read and wrote'),
  tokens: z
    .int()
    .nonnegative()
    .nullable()
    .describe('Tokens that its agents reported; null where nobody knows'),
  model_calls: z.int().nonnegative().describe('Requests to models'),
  cost_usd: z.number().nullable().describe('US dollars; null where a price is not known'),
});
export type Answer = z.infer<typeof answerSchema>;

export function toAnswer(attempt: Attempt): Answer {
  const { status, raw_answer, reason, task_id, elapsed_ms, model_calls = 0 } = attempt;
  const { packets, bytes, tokens, cost } = getUse(attempt);
  const answer = status === 'answered' ? raw_answer : null;
  return { answer, status, reason, task_id, elapsed_ms, packets, bytes, tokens, model_calls, cost_usd: cost };
}
