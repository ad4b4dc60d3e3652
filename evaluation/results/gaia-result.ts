import { tokenLedgerSchema } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { splitItems } from '@gaia-mesh/tools/tables/answer-form.ts';
import * as z from 'zod';
import type { TeamReply } from '../batch/teams/team-reply.ts';
import type { Attachment, Question } from '../questions/question.ts';
import { findScorer } from '../scorers/scorer.ts';
import { isWtqCorrect } from '../scorers/wtq.ts';
import { answerUseSchema } from '../store/answer-use.ts';
import { guessKnownGap, KNOWN_GAPS } from './failures/known-gap.ts';
import { isLenientlyCorrect } from './lenient.ts';
import { roleUsageSchema, toolCallsSchema } from './role-usage.ts';
import { meshResultSchema } from './task-result.ts';

const amount = z.number().nonnegative();
const whole = z.int().nonnegative();

/**
 * One finished attempt at a question: a line of the journal, and the source of answers, summary and log. Costs are in US dollars,
 * null if a price is not known. A cached attempt took nothing in this run; `took` is what it took when it was asked.
 */
export const gaiaResultSchema = z.strictObject({
  task_id: z.string().min(1).describe('id of the question'),
  team: z.string().min(1).describe('name of the team'),
  cycle: z.int().min(1).describe('which time the question was asked, from 1; see --repeat'),
  level: z.string().optional().describe('level of the question, where it has one'),
  category: z.string().describe('kind of the question'),
  status: z.enum(['answered', 'timeout', 'failed']).describe('how the attempt ended'),
  final_answer: z.string().min(1).describe('the answer, never empty; after a failure, what went wrong'),
  raw_answer: z
    .string()
    .nullable()
    .describe(
      'the answer as the team gave it, before it was cut down to the bare answer; null where it gave none',
    ),
  reasoning_trace: z.string().min(1).describe('how the team came to it, never empty'),
  correct: z
    .boolean()
    .describe("whether it is right, by GAIA's official scorer; only where a true answer is known")
    .nullable(),
  correct_lenient: z
    .boolean()
    .describe('the same, with quotes, articles, units and thousands separators forgiven')
    .nullable(),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('how probable it is that the answer is right, where the engine says it'),
  reason: z.string().optional().describe('why there is no answer'),
  failed_role: z.string().optional().describe('the role that failed, where one did'),
  gap: z
    .enum(KNOWN_GAPS)
    .optional()
    .describe('what is known to be missing here, where the answer is not right'),
  cached: z
    .boolean()
    .describe(
      'true where the answer was taken from the cache: it took nothing in this run, and is kept out of every sum',
    ),
  took: answerUseSchema
    .optional()
    .describe('what the answer took when it was asked; only where it was cached, and this is known'),
  tokens: whole.nullable().describe("tokens; null where a model's server did not say"),
  cost: amount.nullable().describe('US dollars; null where a price is not known'),
  packets: whole.describe('packets that agents sent'),
  bytes: whole.describe('bytes of packets, read and written by the hub'),
  seconds: amount.describe('seconds from the question to the answer, or to the end without one'),
  model_calls: whole.describe('replies of models'),
  usage: roleUsageSchema,
  token_ledger: tokenLedgerSchema
    .optional()
    .describe('where the tokens of prompts and replies went; only where a model was asked'),
  tool_calls: toolCallsSchema,
  file: z.string().optional().describe('the attached file, where it came from or why it is missing'),
  ended_at: amount.describe('milliseconds since 1970'),
  mesh: meshResultSchema.optional().describe('how its task ended on the mesh; not where it was cached'),
});

export type GaiaResult = z.infer<typeof gaiaResultSchema>;

/** Maximum lengths of an attempt's texts, in UTF-16 units; the run's archive has the full texts. */
const MAX_TRACE_CHARACTERS = 1024 * 1024;
const MAX_ANSWER_CHARACTERS = 64 * 1024;
const MAX_REASON_CHARACTERS = 2_000;

interface ResultFacts {
  readonly question: Question;
  readonly team: string;
  readonly cycle: number;
  readonly cached: boolean;
  readonly endedAt: number;
  /** Extracts the bare answer from a team's text; undefined if it contains none. */
  readonly clean: (raw: string) => string | undefined;
  /** Removes keys from a text before it is written. */
  readonly redact: (text: string) => string;
}

/**
 * Builds the result of an attempt. Neither answer nor trace is ever empty (RA-12, REQ-071): an empty answer is a failure, and a
 * failure has its exact text as answer if the team gave one, and counts as wrong (C-20).
 */
export function buildGaiaResult(reply: TeamReply, facts: ResultFacts): GaiaResult {
  const { question, cached, redact } = facts;
  const kept = (text: string, most: number) => cutText(redact(text), most);
  const answer = cleanTeamAnswer(reply, facts.clean);
  const isAnswered = reply.status === 'answered' && answer !== undefined;
  const status = isAnswered ? 'answered' : reply.status === 'timeout' ? 'timeout' : 'failed';
  const reason = isAnswered
    ? undefined
    : reply.reason || (status === 'timeout' ? 'no answer in time' : EMPTY);
  const verdict = scoreAnswer(isAnswered ? answer : undefined, question);
  return {
    task_id: question.taskId,
    team: facts.team,
    cycle: facts.cycle,
    level: question.level,
    category: question.category,
    status,
    final_answer: kept(answer ?? `No answer: ${reason}`, MAX_ANSWER_CHARACTERS),
    raw_answer: reply.rawAnswer === null ? null : kept(reply.rawAnswer, MAX_ANSWER_CHARACTERS),
    reasoning_trace: kept(reply.reasoningTrace.trim() || explainNoTrace(reason), MAX_TRACE_CHARACTERS),
    ...verdict,
    confidence: isAnswered ? reply.confidence : undefined,
    reason: reason === undefined ? undefined : kept(reason, MAX_REASON_CHARACTERS),
    failed_role: reply.failedRole,
    gap: isAnswered && verdict.correct !== false ? undefined : guessKnownGap(question, reply),
    cached,
    tokens: reply.tokens,
    cost: reply.costUsd,
    packets: reply.packets,
    bytes: reply.bytes,
    seconds: Math.round(reply.seconds * 1e6) / 1e6,
    model_calls: reply.modelCalls,
    usage: [...reply.usage],
    token_ledger: reply.tokenLedger,
    tool_calls: [...reply.toolCalls],
    file: question.attachment && formatAttachment(question.attachment),
    ended_at: facts.endedAt,
    mesh: reply.mesh && { ...reply.mesh, warnings: reply.mesh.warnings?.map(redact) },
  };
}

const EMPTY = 'the team gave an empty answer';

/**
 * Cleans an answer by the same rules for every team, whatever the team itself has done. The text of a failed answer is kept as it
 * is (C-20).
 */
function cleanTeamAnswer(
  { status, answer, rawAnswer }: TeamReply,
  clean: ResultFacts['clean'],
): string | undefined {
  const given = [answer, rawAnswer].find((text) => text !== null && text.trim() !== '');
  const text = status === 'answered' && given !== undefined ? clean(given ?? '') : given;
  return text?.trim() || undefined;
}

const gaia = findScorer('gaia');

/** Scores an answer. A missing answer is wrong, whatever the official scorer makes of it: failures stay in the denominator. */
function scoreAnswer(
  answer: string | undefined,
  { truths, scorer }: Question,
): Pick<GaiaResult, 'correct' | 'correct_lenient'> {
  const [first, ...others] = truths;
  if (first === undefined) return { correct: null, correct_lenient: null };
  if (answer === undefined) return { correct: false, correct_lenient: false };
  if (scorer === 'wtq') {
    const isRight = isWtqCorrect(truths, splitItems(answer));
    return { correct: isRight, correct_lenient: isRight };
  }
  const correct = gaia.score(answer, [first, ...others]).correct === 1;
  return { correct, correct_lenient: correct || truths.some((truth) => isLenientlyCorrect(answer, truth)) };
}

function explainNoTrace(reason: string | undefined): string {
  return reason === undefined
    ? 'The team sends no reasoning with its answers; what its agents noted is in the run’s archive.'
    : `No step was noted before the end: ${reason}`;
}

function formatAttachment(attachment: Attachment): string {
  return attachment.status === 'placed'
    ? `${attachment.name}: ${attachment.bytes} bytes, from ${attachment.from}`
    : `${attachment.name}: missing: ${attachment.reason}`;
}

function cutText(text: string, most: number): string {
  const whole = text.toWellFormed();
  return whole.length <= most
    ? whole
    : `${whole.slice(0, most).toWellFormed()} [cut: ${whole.length - most} more]`;
}
