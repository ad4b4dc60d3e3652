import type { ErrorCode } from '@gaia-mesh/core/contracts/errors.ts';
import { modelSumsSchema } from '@gaia-mesh/core/contracts/usage.ts';
import { TASK_STATUSES } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import { tokenLedgerSchema } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import * as z from 'zod';
import { answerUseSchema } from '../store/answer-use.ts';

const score = (description: string) => z.number().min(0).max(1).nullable().describe(description);
const count = (description: string) => z.int().nonnegative().describe(description);
const tokens = (description: string) => z.int().nonnegative().nullable().describe(description);
const text = (description: string) => z.string().describe(description);

/** Kinds of failures that end an attempt. */
const FAILURE_CODES = [
  'engine',
  'reply',
  'agent',
  'store',
  'tool',
  'limit',
  'config',
  'packet',
  'io',
] as const satisfies readonly ErrorCode[];

/** Kinds of questions at which such teams are known to be weak. */
const KNOWN_GAPS = ['proprietary_api', 'web_archive', 'image_only', 'multi_hop', 'other'] as const;

const usageSchema = z.strictObject({
  role: text('the role that asked'),
  model: text('the model that replied'),
  prompt_tokens: tokens('tokens of the prompts; null where the server did not say'),
  completion_tokens: tokens('tokens of the replies; null where the server did not say'),
  cached_tokens: count('of the prompts’, those that the server had kept from before').exactOptional(),
  calls: count('replies'),
  cost_usd: z.number().nonnegative().nullable().describe('US dollars; null where the price is not known'),
});

const toolCallsSchema = z.strictObject({
  tool: text('name of the tool'),
  count: count('calls'),
  failed: count('calls that failed'),
});

/**
 * One attempt of a team to answer a question. It is a line of the journal and of `results.jsonl`, a row of the viewer,
 * and the source of all summaries, pages and answers files.
 */
export const attemptSchema = z.strictObject({
  task_id: text('id of the question').min(1),
  team: text('name of the team').min(1),
  cycle: z.int().min(1).describe('which time the question was asked, from 1; see --repeat'),
  level: text('level of the question, where it has one').optional(),
  category: text('kind of the question'),
  truth: text('the true answer; null where none is known').nullable(),
  status: z
    .enum(TASK_STATUSES)
    .describe('how the attempt ended; failed, too, where the team says that it has no answer'),
  ended: z
    .enum(TASK_STATUSES)
    .optional()
    .describe('how its task ended on the mesh, where that differs: answered where a final packet came'),
  reason: text('why there is no answer').optional(),
  code: z.enum(FAILURE_CODES).optional().describe('kind of the failure, where it is known'),
  failed_role: text('the role that failed, where one did').optional(),
  gap: z
    .enum(KNOWN_GAPS)
    .optional()
    .describe('what is known to be missing here, where the answer is not right'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('what was lost of servers, agents and models outside of the mesh, in words'),
  answer: text('the answer of the final packet; null where there is none').nullable(),
  final_answer: text('the answer, never empty; after a failure, what went wrong').min(1),
  raw_answer: text(
    'the answer as the team gave it, before it was cut down to the bare answer; null where it gave none',
  ).nullable(),
  reasoning_trace: text('how the team came to it, never empty').min(1),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('how probable it is that the answer is right, where the engine says it'),
  correct: z
    .boolean()
    .describe("whether it is right, by GAIA's official scorer; null where no true answer is known")
    .nullable(),
  correct_lenient: z
    .boolean()
    .describe('the same, with quotes, articles, units and thousands separators forgiven')
    .nullable(),
  exact_match: score(
    '1 where the answer is exactly the true one, white space around it aside; scores are null without a true answer',
  ),
  rouge_l: score('ROUGE-L (F) of the answer'),
  quality_score: score('mean of exact_match and rouge_l'),
  normalized_em: score('exact match as SQuAD normalises it: case, punctuation and articles aside'),
  f1: score('F1 over words, as SQuAD has it'),
  scores: z
    .record(z.string(), z.number().nullable())
    .optional()
    .describe("measures of the team's scorer by name; only where it is another than the two above"),
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
  ...modelSumsSchema.shape,
  usage: z.array(usageSchema).describe('what each role took of each model'),
  tool_calls: z.array(toolCallsSchema).describe('which tools were called'),
  token_ledger: tokenLedgerSchema
    .optional()
    .describe('where the tokens of prompts and replies went; only where a model was asked'),
  cached: z
    .literal(true)
    .optional()
    .describe(
      'the answer was taken from the cache: it took nothing in this run, and is kept out of every sum',
    ),
  took: answerUseSchema
    .optional()
    .describe('what the answer took when it was asked; only where it was cached, and this is known'),
  file: text('the attached file, where it came from or why it is missing').optional(),
  ended_at: z.number().nonnegative().describe('milliseconds since 1970'),
});

export type Attempt = z.infer<typeof attemptSchema>;

/** The key of an attempt: one question in one cycle by one team. */
export type AttemptKey = Pick<Attempt, 'task_id' | 'team' | 'cycle'>;

/** The keys of an attempt that say what it took. */
type Amounts = Pick<
  Attempt,
  | 'token_sum'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cost_usd'
  | 'pkt_cnt'
  | 'bytes_tx'
  | 'bytes_rx'
  | 'elapsed_ms'
>;

/**
 * Returns what an attempt took in this run. Its tokens are null if a server did not report them for every reply; otherwise the count
 * of the servers or that of the packets, whichever is larger: agents do not report replies whose packets came late or never.
 */
export function getUse(attempt: Amounts): NonNullable<Attempt['took']> {
  const { token_sum, prompt_tokens = 0, completion_tokens = 0, cost_usd = 0 } = attempt;
  const taken =
    prompt_tokens === null || completion_tokens === null ? null : prompt_tokens + completion_tokens;
  return {
    tokens: taken === null ? null : Math.max(token_sum, taken),
    cost: cost_usd,
    packets: attempt.pkt_cnt,
    bytes: attempt.bytes_rx + attempt.bytes_tx,
    seconds: Math.round(attempt.elapsed_ms * 1000) / 1e6,
  };
}
