import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import type { Scores } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import type { Attempt } from '../attempts/attempt.ts';
import { buildAttempt, failAttempt } from '../attempts/build-attempt.ts';
import type { LimitOptions } from '../plan/options.ts';
import type { Question } from '../questions/question.ts';
import { toOneLine } from '../terminal/table.ts';
import type { TeamCache } from './answer-cache.ts';
import { isSuspect, type Journal } from './journal/journal.ts';
import { findOverrun, Spending } from './limits.ts';

export interface Batch {
  readonly team: string;
  readonly questions: readonly Question[];
  /**
   * Asks the team one question. This function is all that the batch knows of the mesh.
   *
   * A failure of this question alone is an attempt with `failed` or `timeout`. The promise rejects if no question can be asked any
   * more: `io` (disk full), `store`, `agent` and `handshake` (hub or agents lost), `interrupted`; or with a bug.
   */
  readonly askTeam: (question: Question, cycle: number, signal: AbortSignal) => Promise<Attempt>;
  readonly concurrency: number;
  /** Number of cycles; each asks every question once. */
  readonly repeat: number;
  readonly limits: LimitOptions;
  /** The spending of the whole run, if the batch is one of several in it. */
  readonly spending?: Spending;
  /** Undefined with `--no-cache`. Repeated questions do not use it, because their answers could not improve (C-11). */
  readonly cache?: TeamCache | undefined;
  readonly journal: Journal;
  /** Keeps the batch going however many questions in a row fail; set when faults make agents fail. */
  readonly toleratesFailures?: boolean;
  /** Puts the question's file into a folder that the team can read. */
  readonly placeFile: (question: Question, cycle: number) => Promise<Question>;
  /** Scores an answer that the mesh did not see; null means that there is none. */
  readonly score: (task: Pick<Task, 'truths'>, answer: string | null) => Scores;
  readonly redact: (text: string) => string;
  readonly onEvent: (event: BatchEvent) => void;
  readonly signal: AbortSignal;
}

/** Progress of a batch as it happens. The results themselves are in the journal. */
export type BatchEvent =
  /** An earlier run finished the attempt, and the journal has it. */
  | { readonly kind: 'kept'; readonly attempt: Attempt }
  | { readonly kind: 'asked'; readonly team: string; readonly cycle: number; readonly question: Question }
  | { readonly kind: 'cache'; readonly team: string; readonly question: Question; readonly isHit: boolean }
  | { readonly kind: 'finished'; readonly attempt: Attempt }
  /** The machines that answer, if there are several. */
  | { readonly kind: 'workers'; readonly workers: RunEvent<'workers'>['workers'] };

/** The end of a batch. Finished questions are in the journal, and an unfinished batch can be resumed. */
export type BatchEnd =
  | { readonly kind: 'finished' }
  /** `isUsedUp`: the limit is reached at once if the batch is resumed with it. */
  | { readonly kind: 'limit'; readonly reason: string; readonly isUsedUp?: boolean }
  | { readonly kind: 'interrupted'; readonly reason: string }
  /** The cause affects every question, so the batch asks no more (REQ-067, C-06). */
  | { readonly kind: 'stopped'; readonly reason: string; readonly error: MeshError };

/** Failures in a row with the same cause at which the batch stops: the questions are no longer to blame. */
const MAX_FAILURES_IN_A_ROW = 3;
/** Failures in a row with any causes at which the batch stops: a server that goes down causes several kinds of failure. */
const MAX_MIXED_FAILURES_IN_A_ROW = 10;

/** Distinguishes a question that fails by itself from a model or an agent that is gone: later questions show which it was. */
export class SharedCause {
  /** Failures that no later question has disproved, with their numbers. */
  #suspects: { readonly number: number; readonly cause: string }[] = [];
  #failures = 0;
  #error: MeshError | undefined;
  readonly #attempts: number;

  /** @param attempts of the batch: where all fail like this, none of its questions was to blame, however few they are */
  constructor(attempts = Number.POSITIVE_INFINITY) {
    this.#attempts = attempts;
  }

  /** Failures so far. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Judges an attempt. An answer whose question was already running when a server went away shows nothing about later failures.
   *
   * @param before {@link failures} when the question was asked
   */
  judge(attempt: Attempt, before: number): void {
    const { status, code, reason = 'no reason given', cached } = attempt;
    if (code !== undefined && isSuspect(attempt)) {
      // Counts and ids in a reason differ from one question to the next.
      const cause = `${code} ${reason.replace(/\d+/g, '')}`;
      const inRow = this.#suspects.push({ number: this.#failures++, cause });
      const alike = inRow - 1 - this.#suspects.findLastIndex((one) => one.cause !== cause);
      const isShared =
        alike >= MAX_FAILURES_IN_A_ROW ||
        inRow >= MAX_MIXED_FAILURES_IN_A_ROW ||
        this.#failures >= this.#attempts;
      if (!isShared && code !== 'store') return;
      const times = inRow === 1 ? '' : `${inRow} questions in a row failed, the last one: `;
      this.#error ??= new MeshError(code, `${times}${reason}`);
    } else if (!cached && status !== 'timeout') {
      // An answer from the cache shows nothing about the model, and a timeout shows nothing about the agents.
      this.#suspects = this.#suspects.filter(({ number }) => number >= before);
    }
  }

  /** Set once no further question can be answered. */
  get error(): MeshError | undefined {
    return this.#error;
  }
}

/**
 * Asks every question of a batch once per cycle, `concurrency` at a time and one cycle after the other, and skips those in the
 * journal. Each question goes through these steps: place its file → cache → team → clean and check → cache → journal (RA-06). A
 * question that fails is a result; a cause that affects all questions ends the batch.
 */
export async function runBatch(batch: Batch): Promise<BatchEnd> {
  const deadline = batch.limits.maxTime;
  const spending = batch.spending ?? new Spending(batch.limits);
  const { time } = spending;
  const stop = new AbortController();
  const run: Run = {
    batch,
    spending,
    cause: new SharedCause(batch.questions.length * batch.repeat),
    signal: AbortSignal.any([batch.signal, stop.signal, ...(time === undefined ? [] : [time])]),
  };
  let end: BatchEnd = { kind: 'finished' };
  const finish = (how: BatchEnd) => {
    if (end.kind === 'finished') end = how;
    // A token limit lets running questions finish, because they are paid for.
    if (how.kind === 'stopped') stop.abort();
  };
  for (let cycle = 1; cycle <= batch.repeat && end.kind === 'finished'; cycle++) {
    const waiting = batch.questions.values();
    const worker = async () => {
      // The workers share one iterator: each takes the next question when it is done with one.
      for (const question of waiting) {
        if (end.kind !== 'finished') return;
        const how = await runQuestion(run, question, cycle);
        if (batch.signal.aborted) finish({ kind: 'interrupted', reason: 'interrupted' });
        else if (time?.aborted)
          finish({ kind: 'limit', reason: `the run reached its limit of ${deadline} s (--max-time)` });
        else if (how !== undefined) finish(how);
      }
    };
    const workers = Array.from({ length: batch.concurrency }, worker);
    const ends = await Promise.allSettled(
      workers.map((work) =>
        work.catch((error: unknown) => {
          // This is a bug: stop the questions of the other workers and rethrow it.
          stop.abort();
          throw error;
        }),
      ),
    );
    const failed = ends.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
  return describeOvershoot(end, batch, spending);
}

/** Restates a used-up limit with the final figures: questions that were running when it was reached have ended since. */
function describeOvershoot(end: BatchEnd, { concurrency }: Batch, spending: Spending): BatchEnd {
  if (end.kind !== 'limit' || end.isUsedUp !== true) return end;
  const reason = spending.reached() ?? end.reason;
  if (reason === end.reason || concurrency === 1) return { ...end, reason };
  return {
    ...end,
    reason: `${reason}; the questions on their way then were finished (--concurrency ${concurrency})`,
  };
}

interface Run {
  readonly batch: Batch;
  readonly spending: Spending;
  readonly cause: SharedCause;
  readonly signal: AbortSignal;
}

/** Runs one question. A returned value ends the batch. */
async function runQuestion(run: Run, question: Question, cycle: number): Promise<BatchEnd | undefined> {
  const { batch, spending, cause } = run;
  const key = { task_id: question.taskId, team: batch.team, cycle };
  const kept = batch.journal.read(key);
  if (kept !== undefined) {
    spending.add(kept);
    batch.onEvent({ kind: 'kept', attempt: kept });
    return undefined;
  }
  const reached = spending.reached();
  if (reached !== undefined) return { kind: 'limit', reason: reached, isUsedUp: true };
  const before = cause.failures;
  try {
    const placed = await batch.placeFile(question, cycle);
    batch.onEvent({ kind: 'asked', team: batch.team, cycle, question: placed });
    const cache = batch.repeat === 1 ? batch.cache : undefined;
    const cached = cache && (await readCache(batch, cache, placed, cycle));
    const attempt = cached ?? (await askInTime(batch, placed, cycle, run.signal));
    // An interrupted question has no result, unless its answer came in time; it is asked again on resume.
    if (run.signal.aborted && attempt.status !== 'answered') return undefined;
    spending.add(attempt);
    if (!batch.toleratesFailures) cause.judge(attempt, before);
    batch.journal.append(attempt);
    batch.onEvent({ kind: 'finished', attempt });
    // An answer with warnings is not cached: the team had to do without a part of its servers or tools.
    if (attempt.status === 'answered' && !attempt.cached && attempt.warnings === undefined)
      await cache?.put(placed, attempt);
    return cause.error === undefined ? undefined : createBatchEnd(batch.team, question, cause.error);
  } catch (error) {
    if (run.signal.aborted) return undefined;
    if (!(error instanceof MeshError)) throw error;
    return createBatchEnd(batch.team, question, error);
  }
}

/** Takes an answer from the cache; undefined if it has none. */
async function readCache(
  batch: Batch,
  cache: TeamCache,
  question: Question,
  cycle: number,
): Promise<Attempt | undefined> {
  const { team, redact } = batch;
  const startMs = performance.now();
  const found = await cache.get(question);
  batch.onEvent({ kind: 'cache', team, question, isHit: found !== undefined });
  if (found === undefined) return undefined;
  const { final_answer: answer, reasoning_trace, took } = found;
  const end = {
    status: 'answered' as const,
    answer,
    final: { reasoning_trace },
    elapsedMs: performance.now() - startMs,
    scores: batch.score(question, answer),
  };
  return { ...buildAttempt(end, { question, team, cycle, redact }), raw_answer: null, cached: true, took };
}

/** Asks the team within the question's limits. Rejects if `signal` ends the wait. */
export async function askInTime(
  { team, askTeam, limits, score, redact }: Pick<Batch, 'team' | 'askTeam' | 'limits' | 'score' | 'redact'>,
  question: Question,
  cycle: number,
  signal: AbortSignal,
): Promise<Attempt> {
  const { questionTime: seconds } = limits;
  const time = seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1000);
  const startMs = performance.now();
  let attempt: Attempt;
  try {
    attempt = await askTeam(question, cycle, time === undefined ? signal : AbortSignal.any([signal, time]));
  } catch (error) {
    if (signal.aborted || time?.aborted !== true) throw error;
    const end = {
      status: 'timeout' as const,
      answer: null,
      elapsedMs: performance.now() - startMs,
      scores: score(question, null),
    };
    attempt = buildAttempt(end, { question, team, cycle, redact });
  }
  if (time?.aborted === true && attempt.status !== 'answered') {
    const reason = `no answer within the question's ${seconds} s`;
    return failAttempt(attempt, question, { status: 'timeout', reason });
  }
  const reason = findOverrun(attempt, limits);
  return reason === undefined
    ? attempt
    : failAttempt(attempt, question, { status: 'failed', reason, code: 'limit' });
}

/** Creates the end of a batch that an error stopped; its reason names component, question and cause (REQ-067). */
export function createBatchEnd(
  team: string,
  question: Question,
  error: MeshError,
): Extract<BatchEnd, { kind: 'stopped' }> {
  const about = `question ${question.taskId} (${toOneLine(question.question, 60)})`;
  const reason = `${COMPONENTS[error.code] ?? error.code}, team ${team}, ${about}: ${toErrorMessage(error)}`;
  return { kind: 'stopped', reason, error };
}

const COMPONENTS: Partial<Record<MeshError['code'], string>> = {
  engine: 'the model',
  agent: 'the agents',
  handshake: 'the hub',
  io: 'files',
  store: 'the store',
  config: 'the configuration',
};
