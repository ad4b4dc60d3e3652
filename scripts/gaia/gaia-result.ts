import * as z from 'zod';
import { scorerNamed } from '../../core/evaluation/scorer.ts';
import { KNOWN_GAPS, knownGapOf } from './known-gap.ts';
import { lenientlyCorrect } from './lenient.ts';
import type { Attachment, Question } from './question.ts';
import type { TeamReply } from './team-reply.ts';

const amount = z.number().nonnegative();
const whole = z.int().nonnegative();

/**
 * One finished attempt at a question: a line of the journal, and all that answers, summary and log are made from. Money in US
 * dollars, null where a price is not known. A cached one took nothing, and is kept out of every sum of what answers take.
 */
export const gaiaResultSchema = z.strictObject({
  task_id: z.string().min(1),
  team: z.string().min(1),
  cycle: z.int().min(1),
  level: z.string().optional(),
  category: z.string(),
  status: z.enum(['answered', 'timeout', 'failed']),
  final_answer: z.string().min(1),
  raw_answer: z.string().nullable(),
  reasoning_trace: z.string().min(1),
  /** By the official scorer, and leniently; null where no true answer is known. */
  correct: z.boolean().nullable(),
  correct_lenient: z.boolean().nullable(),
  reason: z.string().optional(),
  failed_role: z.string().optional(),
  gap: z.enum(KNOWN_GAPS).optional(),
  cached: z.boolean(),
  tokens: whole,
  cost: amount.nullable(),
  packets: whole,
  bytes: whole,
  seconds: amount,
  model_calls: whole,
  usage: z.array(
    z.strictObject({
      role: z.string(),
      model: z.string(),
      prompt_tokens: whole,
      completion_tokens: whole,
      calls: whole,
      cost_usd: amount.nullable(),
    }),
  ),
  tool_calls: z.array(z.strictObject({ tool: z.string(), count: whole, failed: whole })),
  file: z.string().optional(),
  /** Milliseconds since 1970. */
  ended_at: amount,
});

export type GaiaResult = z.infer<typeof gaiaResultSchema>;

/** Longest texts that are kept of an attempt, in UTF-16 units; the run's archive has the whole of it. */
const MAX_TRACE_CHARACTERS = 1024 * 1024;
const MAX_ANSWER_CHARACTERS = 64 * 1024;
const MAX_REASON_CHARACTERS = 2_000;

export interface ResultFacts {
  readonly question: Question;
  readonly team: string;
  readonly cycle: number;
  readonly cached: boolean;
  readonly endedAt: number;
  /** Makes the bare answer of what a team said; undefined where there is none in it. */
  readonly clean: (raw: string) => string | undefined;
  /** Takes keys out of what is written down. */
  readonly redact: (text: string) => string;
}

/**
 * What an attempt came to. Neither answer nor trace is ever empty (RA-12, REQ-071): an answer that says nothing is a failure, and a
 * failure has its exact text as answer where the team gave one, and counts as wrong (C-20).
 */
export function gaiaResult(reply: TeamReply, facts: ResultFacts): GaiaResult {
  const { question, cached, redact } = facts;
  const kept = (text: string, most: number) => cut(redact(text), most);
  const answer = answerOf(reply, facts.clean);
  const isAnswered = reply.status === 'answered' && answer !== undefined;
  const status = isAnswered ? 'answered' : reply.status === 'timeout' ? 'timeout' : 'failed';
  const reason = isAnswered
    ? undefined
    : reply.reason || (status === 'timeout' ? 'no answer in time' : EMPTY);
  const verdict = verdictOf(isAnswered ? answer : undefined, question.truths);
  return {
    task_id: question.taskId,
    team: facts.team,
    cycle: facts.cycle,
    ...(question.level === undefined ? {} : { level: question.level }),
    category: question.category,
    status,
    final_answer: kept(answer ?? `No answer: ${reason}`, MAX_ANSWER_CHARACTERS),
    raw_answer: reply.rawAnswer === null ? null : kept(reply.rawAnswer, MAX_ANSWER_CHARACTERS),
    reasoning_trace: kept(reply.reasoningTrace.trim() || traceInstead(reason), MAX_TRACE_CHARACTERS),
    ...verdict,
    ...(reason === undefined ? {} : { reason: kept(reason, MAX_REASON_CHARACTERS) }),
    ...(reply.failedRole === undefined ? {} : { failed_role: reply.failedRole }),
    ...(isAnswered && verdict.correct !== false ? {} : { gap: knownGapOf(question, reply) }),
    cached,
    tokens: reply.tokens,
    cost: reply.costUsd,
    packets: reply.packets,
    bytes: reply.bytes,
    seconds: Math.round(reply.seconds * 1e6) / 1e6,
    model_calls: reply.modelCalls,
    usage: [...reply.usage],
    tool_calls: [...reply.toolCalls],
    ...(question.attachment === undefined ? {} : { file: fileLine(question.attachment) }),
    ended_at: facts.endedAt,
  };
}

const EMPTY = 'the team gave an empty answer';

function answerOf({ answer, rawAnswer }: TeamReply, clean: ResultFacts['clean']): string | undefined {
  const given = answer?.trim();
  if (given !== undefined && given !== '') return given;
  const cleaned = rawAnswer === null ? undefined : clean(rawAnswer)?.trim();
  return cleaned === '' ? undefined : cleaned;
}

const gaia = scorerNamed('gaia');

/** No answer is wrong, whatever the official scorer makes of none: failures stay in the denominator. */
function verdictOf(
  answer: string | undefined,
  truths: readonly string[],
): Pick<GaiaResult, 'correct' | 'correct_lenient'> {
  const [first, ...others] = truths;
  if (first === undefined) return { correct: null, correct_lenient: null };
  if (answer === undefined) return { correct: false, correct_lenient: false };
  const correct = gaia.score(answer, [first, ...others]).correct === 1;
  return { correct, correct_lenient: correct || truths.some((truth) => lenientlyCorrect(answer, truth)) };
}

function traceInstead(reason: string | undefined): string {
  return reason === undefined ? 'The team gave no reasoning.' : `No reasoning: ${reason}`;
}

function fileLine(attachment: Attachment): string {
  return attachment.status === 'placed'
    ? `${attachment.name}: ${attachment.bytes} bytes, from ${attachment.from}`
    : `${attachment.name}: missing: ${attachment.reason}`;
}

function cut(text: string, most: number): string {
  const whole = text.toWellFormed();
  return whole.length <= most
    ? whole
    : `${whole.slice(0, most).toWellFormed()} [cut: ${whole.length - most} more]`;
}
