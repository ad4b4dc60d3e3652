import { type ErrorCode, MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { Question } from '../questions/question.ts';
import { buildGaiaResult, type GaiaResult } from '../results/gaia-result.ts';
import { toOneLine } from '../terminal/table.ts';
import type { CachedAnswer, TeamCache } from './answer-cache.ts';
import type { Journal } from './journal/journal.ts';
import { type BatchLimits, findOverrun, Spending } from './limits.ts';
import type { AskTeam, TeamReply } from './teams/team-reply.ts';

export interface Batch {
  readonly team: string;
  readonly questions: readonly Question[];
  readonly askTeam: AskTeam;
  readonly concurrency: number;
  /** Number of cycles; each asks every question once. */
  readonly repeat: number;
  readonly limits: BatchLimits;
  /** Undefined with `--no-cache`. Ignored when questions are repeated, because they could not improve (C-11). */
  readonly cache?: TeamCache | undefined;
  readonly journal: Journal;
  /** Keeps the batch going however many questions in a row fail; set when faults make agents fail. */
  readonly toleratesFailures?: boolean;
  /** Puts the question's file into a folder that the team can read. */
  readonly placeFile: (question: Question, cycle: number) => Promise<Question>;
  readonly clean: (raw: string) => string | undefined;
  readonly redact: (text: string) => string;
  readonly onEvent: (event: BatchEvent) => void;
  readonly signal: AbortSignal;
}

/** Progress of a batch as it happens. The results themselves are in the journal. */
export type BatchEvent =
  | { readonly kind: 'kept'; readonly key: Pick<GaiaResult, 'task_id' | 'team' | 'cycle'> }
  | { readonly kind: 'asked'; readonly team: string; readonly cycle: number; readonly question: Question }
  | { readonly kind: 'cache'; readonly team: string; readonly question: Question; readonly isHit: boolean }
  | { readonly kind: 'finished'; readonly result: GaiaResult };

/** The end of a batch. Finished questions are in the journal, and an unfinished batch can be resumed. */
export type BatchEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'limit' | 'interrupted'; readonly reason: string }
  /** The cause affects every question, so that asking on would be in vain (REQ-067, C-06). */
  | { readonly kind: 'stopped'; readonly reason: string; readonly error: MeshError };

/** Failures of the model or the agents, one after the other, after which the questions are no longer to blame. */
const MAX_FAILURES_IN_A_ROW = 3;

/**
 * Tells a question that fails from a model or an agent that is gone. Failures are held back until another question shows that
 * both still work: a failure in the journal would not be asked again when the batch is resumed.
 */
class SharedCause {
  #held: { readonly result: GaiaResult; readonly number: number }[] = [];
  #failures = 0;
  #error: MeshError | undefined;

  /** Failures so far. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Returns the results that may be kept now: none, or this one and those held back that came before this question was asked. An
   * answer that was on its way when a server went away shows nothing about later failures.
   *
   * @param before {@link failures} when the question was asked
   */
  judge(result: GaiaResult, code: ErrorCode | undefined, before: number): readonly GaiaResult[] {
    if (result.status === 'failed' && code !== undefined && isSuspect(code)) {
      this.#held.push({ result, number: this.#failures++ });
      if (this.#held.length >= MAX_FAILURES_IN_A_ROW || code === 'store') {
        const times =
          this.#held.length === 1 ? '' : `${this.#held.length} questions in a row failed, the last one: `;
        this.#error ??= new MeshError(code, `${times}${result.reason ?? 'no reason given'}`);
      }
      return [];
    }
    // An answer from the cache shows nothing about the model, and silence nothing about the agents.
    return result.cached || result.status === 'timeout' ? [result] : [...this.release(before), result];
  }

  release(before = this.#failures): readonly GaiaResult[] {
    const released = this.#held.filter(({ number }) => number < before);
    this.#held = this.#held.filter(({ number }) => number >= before);
    return released.map(({ result }) => result);
  }

  /** Set once no further question can be answered. */
  get error(): MeshError | undefined {
    return this.#error;
  }
}

function isSuspect(code: ErrorCode): boolean {
  return code === 'engine' || code === 'agent' || code === 'store';
}

/**
 * Asks every question of a batch once per cycle, `concurrency` at a time and one cycle after the other, and skips those in the
 * journal. Each question goes through these steps: place its file → cache → team → clean and check → cache → journal (RA-06). A
 * question that fails is a result; a cause that affects all questions ends the batch.
 */
export async function runBatch(batch: Batch): Promise<BatchEnd> {
  const deadline = batch.limits.run.seconds;
  const time = deadline === undefined ? undefined : AbortSignal.timeout(deadline * 1000);
  const stop = new AbortController();
  const run: Run = {
    batch,
    spending: new Spending(batch.limits.run),
    cause: new SharedCause(),
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
  // Failures held back may still turn out to share a cause, so only a finished batch keeps them.
  if (end.kind === 'finished') for (const result of run.cause.release()) keep(run, result);
  return end;
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
    batch.onEvent({ kind: 'kept', key });
    return undefined;
  }
  const reached = spending.reached();
  if (reached !== undefined) return { kind: 'limit', reason: reached };
  const before = cause.failures;
  try {
    const asked = await ask(run, question, cycle);
    // The question was interrupted; it is asked again on resume.
    if (asked === undefined) return undefined;
    spending.add(asked.result);
    const code = batch.toleratesFailures === true ? undefined : asked.code;
    for (const result of cause.judge(asked.result, code, before)) keep(run, result);
    if (asked.cacheFault !== undefined) throw asked.cacheFault;
    return cause.error === undefined ? undefined : createBatchEnd(batch.team, question, cause.error);
  } catch (error) {
    if (run.signal.aborted) return undefined;
    if (!(error instanceof MeshError)) throw error;
    return createBatchEnd(batch.team, question, error);
  }
}

interface QuestionOutcome {
  readonly result: GaiaResult;
  readonly code: TeamReply['code'];
  /** Set if the answer could not be put into the cache; the answer is kept all the same. */
  readonly cacheFault?: MeshError;
}

async function ask(run: Run, asked: Question, cycle: number): Promise<QuestionOutcome | undefined> {
  const { batch } = run;
  const { team } = batch;
  const question = await batch.placeFile(asked, cycle);
  batch.onEvent({ kind: 'asked', team, cycle, question });
  const cache = batch.repeat === 1 ? batch.cache : undefined;
  const startMs = performance.now();
  const facts = { question, team, cycle, clean: batch.clean, redact: batch.redact };
  const stored = await cache?.get(question);
  if (cache !== undefined) batch.onEvent({ kind: 'cache', team, question, isHit: stored !== undefined });
  if (stored !== undefined) {
    const reply = toCachedReply(stored, (performance.now() - startMs) / 1000);
    const result = buildGaiaResult(reply, { ...facts, cached: true, endedAt: Date.now() });
    return { result: { ...result, took: stored.took }, code: undefined };
  }
  const reply = await askInTime(run, question, cycle);
  // An interrupted question has no result, unless its answer came in time.
  if (run.signal.aborted && reply.status !== 'answered') return undefined;
  const result = buildGaiaResult(reply, { ...facts, cached: false, endedAt: Date.now() });
  // An answer that was given without a server or a tool is not the team's for ever.
  const isWhole = reply.mesh?.warnings === undefined;
  if (cache === undefined || result.status !== 'answered' || !isWhole) return { result, code: reply.code };
  try {
    await cache.put(question, {
      finalAnswer: result.final_answer,
      rawAnswer: result.raw_answer,
      reasoningTrace: result.reasoning_trace,
      took: toAnswerUse(result),
    });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { result, code: reply.code, cacheFault: error };
  }
  return { result, code: reply.code };
}

function toAnswerUse({ tokens, cost, packets, bytes, seconds }: GaiaResult): NonNullable<GaiaResult['took']> {
  return { tokens, cost, packets, bytes, seconds };
}

/** Asks the team within the question's limits. */
async function askInTime(run: Run, question: Question, cycle: number): Promise<TeamReply> {
  const { batch } = run;
  const limits = batch.limits.question;
  const time = limits.seconds === undefined ? undefined : AbortSignal.timeout(limits.seconds * 1000);
  const startMs = performance.now();
  let reply: TeamReply;
  try {
    const signal = time === undefined ? run.signal : AbortSignal.any([run.signal, time]);
    reply = await batch.askTeam(question, { cycle }, signal);
  } catch (error) {
    if (run.signal.aborted || time?.aborted !== true) throw error;
    reply = createTimeoutReply((performance.now() - startMs) / 1000);
  }
  if (time?.aborted === true && reply.status !== 'answered') {
    return { ...reply, status: 'timeout', reason: `no answer within the question's ${limits.seconds} s` };
  }
  const overrun = findOverrun({ tokens: reply.tokens, cost: reply.costUsd }, limits);
  return overrun === undefined
    ? reply
    : { ...reply, status: 'failed', answer: null, reason: overrun, code: 'limit' };
}

function keep({ batch }: Run, result: GaiaResult): void {
  batch.journal.append(result);
  batch.onEvent({ kind: 'finished', result });
}

const NOTHING: Omit<TeamReply, 'status' | 'rawAnswer' | 'answer' | 'reasoningTrace' | 'seconds'> = {
  usage: [],
  toolCalls: [],
  tokens: 0,
  costUsd: 0,
  packets: 0,
  bytes: 0,
  modelCalls: 0,
};

function toCachedReply({ finalAnswer, took: _, ...answer }: CachedAnswer, seconds: number): TeamReply {
  return { ...NOTHING, status: 'answered', answer: finalAnswer, ...answer, seconds };
}

function createTimeoutReply(seconds: number): TeamReply {
  return { ...NOTHING, status: 'timeout', answer: null, rawAnswer: null, reasoningTrace: '', seconds };
}

/** Names component, question and cause (REQ-067). */
function createBatchEnd(team: string, question: Question, error: MeshError): BatchEnd {
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
