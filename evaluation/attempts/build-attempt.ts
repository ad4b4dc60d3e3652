import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { formatWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { toMicroseconds } from '@gaia-mesh/core/run/metrics/metrics.ts';
import type { Scores } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { TaskEnd } from '@gaia-mesh/core/run/run-options.ts';
import { NO_ANSWER } from '@gaia-mesh/tools/answers/answer-format.ts';
import { cleanAnswer } from '@gaia-mesh/tools/answers/clean-answer.ts';
import { countToolCalls } from '@gaia-mesh/tools/roles/role-tool.ts';
import { formatTrace, type TraceEntry } from '@gaia-mesh/tools/roles/trace.ts';
import { splitItems } from '@gaia-mesh/tools/tables/answer-form.ts';
import * as z from 'zod';
import { type Attachment, type Question, toAttemptId } from '../questions/question.ts';
import { listSteps } from '../results/failures/trace-steps.ts';
import { isLenientlyCorrect } from '../results/lenient.ts';
import { findScorer } from '../scorers/scorer.ts';
import { isWtqCorrect } from '../scorers/wtq.ts';
import { type Attempt, attemptSchema } from './attempt.ts';

/** Maximum lengths of an attempt's texts, in UTF-16 units; the run's archive has the full texts. */
const MAX_TRACE_CHARACTERS = 1024 * 1024;
const MAX_ANSWER_CHARACTERS = 64 * 1024;
const MAX_REASON_CHARACTERS = 2_000;

interface AttemptFacts {
  readonly question: Question;
  readonly team: string;
  readonly cycle: number;
  /** The notes of the agents, for an answer that brings no steps. */
  readonly steps?: readonly TraceEntry[];
  /** Removes keys from a text before it is written. */
  readonly redact: (text: string) => string;
}

/** The end of a task that the mesh did not see: nothing was sent for it. */
type UnsentEnd = Pick<TaskEnd, 'status' | 'answer' | 'elapsedMs' | 'scores'> & {
  readonly final?: JsonObject;
};

/** The payload of a final packet; the pipeline sends the answer alone. */
const finalSchema = z.looseObject({
  answer: z.union([z.string(), z.number(), z.boolean()]).transform(String).optional(),
  raw_answer: z.string().optional(),
  reasoning_trace: z.string().default(''),
  confidence: z.number().min(0).max(1).optional(),
  tool_calls: z
    .array(z.object({ tool: z.string(), count: z.int().nonnegative(), failed: z.int().nonnegative() }))
    .optional(),
  failed_role: z.string().optional(),
  // Agents of other versions may send a code that is not known here.
  code: attemptSchema.shape.code.catch(undefined),
});

/**
 * Builds the attempt of a task that ended. Neither answer nor trace is ever empty (RA-12, REQ-071): an empty answer is a failure, and
 * a failure has its exact text as answer if the team gave one, and counts as wrong (C-20).
 */
export function buildAttempt(ended: TaskEnd | UnsentEnd, facts: AttemptFacts): Attempt {
  const { question, team, cycle, steps = [], redact } = facts;
  const end = 'counts' in ended ? ended : completeEnd(question.taskId, cycle, ended);
  const parsed = finalSchema.safeParse(end.final ?? {});
  const said = parsed.success ? parsed.data : finalSchema.parse({});
  const keep = (text: string, most: number) => cutText(redact(text), most);
  const given = [end.answer, said.raw_answer].find((text) => text?.trim()) ?? undefined;
  const hasGivenUp = said.failed_role !== undefined || end.answer === NO_ANSWER;
  const bare = given === undefined ? undefined : cleanAnswer(given)?.trim() || undefined;
  const raw = said.raw_answer ?? end.answer;
  const attempt: Attempt = {
    task_id: question.taskId,
    team,
    cycle,
    level: question.level,
    category: question.category,
    truth: question.truths[0] ?? null,
    status: 'answered',
    failed_role: said.failed_role,
    warnings: end.warnings.length === 0 ? undefined : end.warnings.map((one) => redact(formatWarning(one))),
    answer: end.answer === null ? null : keep(end.answer, MAX_ANSWER_CHARACTERS),
    final_answer: keep(bare ?? NO_ANSWER, MAX_ANSWER_CHARACTERS),
    raw_answer: raw === null ? null : keep(raw, MAX_ANSWER_CHARACTERS),
    reasoning_trace: keep(
      said.reasoning_trace.trim() || formatTrace(steps).trim() || explainNoTrace(undefined),
      MAX_TRACE_CHARACTERS,
    ),
    confidence: said.confidence,
    ...judgeAnswer(bare, question),
    ...toScoreKeys(end.scores),
    token_sum: end.counts.token_sum,
    bytes_tx: end.counts.bytes_tx,
    bytes_rx: end.counts.bytes_rx,
    pkt_cnt: end.counts.pkt_cnt,
    elapsed_ms: toMicroseconds(end.elapsedMs),
    ...end.models,
    usage: [...end.usage],
    tool_calls: said.tool_calls ?? countToolCalls(steps),
    token_ledger: end.tokenLedger,
    file: question.attachment && formatAttachment(question.attachment),
    ended_at: Date.now(),
  };
  if (end.status === 'answered' && !hasGivenUp && bare !== undefined)
    return attempt.correct === false ? { ...attempt, gap: guessKnownGap(question, attempt) } : attempt;
  // A team without an answer says in its own text why.
  const explained = end.answer === NO_ANSWER ? said.raw_answer?.trim() || undefined : undefined;
  const empty = parsed.success ? EMPTY : `its final packet: ${formatIssues(parsed.error)}`;
  const reason =
    end.reason ||
    (end.status === 'timeout' ? 'no answer in time' : hasGivenUp ? (explained ?? given ?? empty) : empty);
  return {
    ...failAttempt(attempt, question, {
      status: end.status === 'timeout' ? 'timeout' : 'failed',
      reason: keep(reason, MAX_REASON_CHARACTERS),
      code: said.code ?? findLostAgent(reason),
    }),
    ended: end.status === 'answered' ? 'answered' : undefined,
  };
}

const EMPTY = 'the team gave an empty answer';

const findLostAgent = (reason: string) => (/ is gone\b/.test(reason) ? 'agent' : undefined);

/** Turns an attempt into one that has no answer: it counts as wrong, and the text that the team gave is kept as it is (C-20). */
export function failAttempt(
  attempt: Attempt,
  question: Question,
  { status, reason, code }: Pick<Attempt, 'code'> & Required<Pick<Attempt, 'status' | 'reason'>>,
): Attempt {
  const { answer, raw_answer, reasoning_trace, correct } = attempt;
  const given = [answer, raw_answer].find((text) => text?.trim())?.trim();
  const hasTrace = reasoning_trace !== explainNoTrace(attempt.reason);
  const failed: Attempt = {
    ...attempt,
    status,
    ended: attempt.ended ?? (attempt.status === status ? undefined : attempt.status),
    reason,
    code,
    final_answer: given ?? `No answer: ${reason}`,
    reasoning_trace: hasTrace ? reasoning_trace : explainNoTrace(reason),
    confidence: undefined,
    correct: correct === null ? null : false,
    correct_lenient: correct === null ? null : false,
  };
  return { ...failed, gap: guessKnownGap(question, failed) };
}

/** Returns the end of an attempt that the mesh did not see, such as an answer from the cache. */
export function toUnsentEnd(attempt: Attempt): TaskEnd {
  const { task_id, cycle, status, answer, elapsed_ms: elapsedMs } = attempt;
  return completeEnd(task_id, cycle, { status, answer, elapsedMs, scores: readScores(attempt) });
}

function completeEnd(taskId: string, cycle: number, end: UnsentEnd): TaskEnd {
  return {
    taskId: toAttemptId(taskId, cycle),
    ...end,
    counts: { bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0, token_sum: 0, init_bytes: 0 },
    models: undefined,
    usage: [],
    tokenLedger: undefined,
    warnings: [],
  };
}

/** Measures that every attempt has as keys of its own. */
const MEASURES = ['exact_match', 'rouge_l', 'quality_score', 'normalized_em', 'f1'] as const;

/** Distributes scores over the keys of an attempt. */
function toScoreKeys(all: Scores): Pick<Attempt, (typeof MEASURES)[number] | 'scores'> {
  const { exact_match = null, rouge_l = null, quality_score = null, normalized_em = null, ...rest } = all;
  const { f1 = null, ...own } = rest;
  const scores = Object.keys(own).length === 0 ? undefined : own;
  return { exact_match, rouge_l, quality_score, normalized_em, f1, scores };
}

/** Collects the scores of an attempt. */
function readScores({ scores, ...attempt }: Attempt): Scores {
  return { ...Object.fromEntries(MEASURES.map((name) => [name, attempt[name]])), ...scores };
}

const gaia = findScorer('gaia');

/** Judges an answer. A missing answer is wrong, whatever the official scorer makes of it: failures stay in the denominator. */
function judgeAnswer(
  answer: string | undefined,
  { truths, scorer }: Question,
): Pick<Attempt, 'correct' | 'correct_lenient'> {
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

/**
 * Kinds of questions at which such teams are known to be weak (OV-47). A wrong or failed answer counts under the first kind that
 * fits, to explain a score; `other` is everything else.
 */
type KnownGap = NonNullable<Attempt['gap']>;

/** Tool calls from which a chain counts as deep. Without a critic, nothing in it was checked on the way. */
const DEEP_CHAIN_CALLS = 5;

const NO_KEY = /\b(API[ _-]?key|[A-Z]+_(API_)?(KEY|TOKEN)|unauthori[sz]ed|HTTP 40[13])\b/;
const ARCHIVE = /\b(web\.archive\.org|archive\.org|wayback|archived? (page|version|copy|snapshot))\b/i;
const CRITIC = /critic|critique/i;

/** Guesses the kind of a wrong answer by rules of thumb; the question itself is not understood. */
function guessKnownGap(
  question: Question,
  { reasoning_trace, reason = '', tool_calls, usage }: Attempt,
): KnownGap {
  const calls = listSteps(reasoning_trace).flatMap(({ text, isToolCall }) => (isToolCall ? [text] : []));
  const failed = calls.filter((step) => /^[^\n]*\}\) failed: /.test(step));
  if (NO_KEY.test(reason) || failed.some((step) => NO_KEY.test(step))) return 'proprietary_api';
  if (ARCHIVE.test(question.question) || calls.some((step) => ARCHIVE.test(step))) return 'web_archive';
  if (question.category === 'image' || question.category === 'video') return 'image_only';
  const asked = tool_calls.reduce((sum, { count }) => sum + count, 0);
  const isChecked = usage.some(({ role }) => CRITIC.test(role));
  return asked >= DEEP_CHAIN_CALLS && !isChecked ? 'multi_hop' : 'other';
}
