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
  /** Cycles: each asks every question once. */
  readonly repeat: number;
  readonly limits: BatchLimits;
  /** Left out with `--no-cache`; never looked at when questions are repeated, as they could not improve (C-11). */
  readonly cache?: TeamCache;
  readonly journal: Journal;
  /** Agents may be lost, or fail, again and again: then it is no reason to stop. */
  readonly toleratesFailures?: boolean;
  /** Puts the question's file where the team finds it. */
  readonly placeFile: (question: Question, cycle: number) => Promise<Question>;
  readonly clean: (raw: string) => string | undefined;
  readonly redact: (text: string) => string;
  readonly onEvent: (event: BatchEvent) => void;
  readonly signal: AbortSignal;
}

/** What happens, as it happens; the results themselves are in the journal. */
export type BatchEvent =
  | { readonly kind: 'kept'; readonly key: Pick<GaiaResult, 'task_id' | 'team' | 'cycle'> }
  | { readonly kind: 'asked'; readonly team: string; readonly cycle: number; readonly question: Question }
  | { readonly kind: 'cache'; readonly team: string; readonly question: Question; readonly isHit: boolean }
  | { readonly kind: 'finished'; readonly result: GaiaResult };

/** How it ended. Whatever is finished is in the journal; a batch that was not finished can be resumed. */
export type BatchEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'limit' | 'interrupted'; readonly reason: string }
  /** A cause that is every question's: asking on would be in vain (REQ-067, C-06). */
  | { readonly kind: 'stopped'; readonly reason: string; readonly error: MeshError };

/** So many failures in a row by the model or the agents, with no other end between them, are not the questions' fault. */
const MAX_FAILURES_IN_A_ROW = 3;

/**
 * Tells a question that the model or an agent failed at from a model that is gone. A failure of theirs is held back until another
 * question shows that they still work: were it in the journal, a resumed batch would not ask that question again.
 */
class SharedCause {
  readonly #held: GaiaResult[] = [];
  #error: MeshError | undefined;

  /** The results that may be kept now: none, or this one with those that were held back. */
  judge(result: GaiaResult, code: ErrorCode | undefined): readonly GaiaResult[] {
    if (result.status === 'failed' && code !== undefined && isSuspect(code)) {
      this.#held.push(result);
      if (this.#held.length >= MAX_FAILURES_IN_A_ROW || code === 'store') {
        const times =
          this.#held.length === 1 ? '' : `${this.#held.length} questions in a row failed, the last one: `;
        this.#error ??= new MeshError(code, `${times}${result.reason ?? 'no reason given'}`);
      }
      return [];
    }
    // From the cache, it shows nothing.
    return result.cached ? [result] : [...this.release(), result];
  }

  release(): readonly GaiaResult[] {
    return this.#held.splice(0);
  }

  /** Set when no question can be answered any more. */
  get error(): MeshError | undefined {
    return this.#error;
  }
}

function isSuspect(code: ErrorCode): boolean {
  return code === 'engine' || code === 'agent' || code === 'store';
}

/**
 * Asks every question of a batch once a cycle, `concurrency` at a time, one cycle after the other, and leaves out what the journal
 * has. For each: its file is placed → cache → team → clean and check → cache → journal (RA-06). One that fails is a result; a
 * cause that is everybody's ends the batch.
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
    // A limit of tokens leaves what is on its way: it is paid for.
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
          finish({ kind: 'limit', reason: `the run has taken its ${deadline} s (--max-time)` });
        else if (how !== undefined) finish(how);
      }
    };
    const workers = Array.from({ length: batch.concurrency }, worker);
    const ends = await Promise.allSettled(
      workers.map((work) =>
        work.catch((error: unknown) => {
          // A bug: the other workers' questions are broken off, and it goes up.
          stop.abort();
          throw error;
        }),
      ),
    );
    const failed = ends.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
  // What is held back may yet turn out to be everybody's cause: only a finished batch keeps it.
  if (end.kind === 'finished') for (const result of run.cause.release()) keep(run, result);
  return end;
}

interface Run {
  readonly batch: Batch;
  readonly spending: Spending;
  readonly cause: SharedCause;
  readonly signal: AbortSignal;
}

/** One question to its result; what it says ends the batch. */
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
  try {
    const asked = await ask(run, question, cycle);
    // Broken off: it is asked again on resuming.
    if (asked === undefined) return undefined;
    spending.add(asked.result);
    const code = batch.toleratesFailures === true ? undefined : asked.code;
    for (const result of cause.judge(asked.result, code)) keep(run, result);
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
  /** The answer is worth keeping even where the cache is lost. */
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
    return {
      result: buildGaiaResult(reply, { ...facts, cached: true, endedAt: Date.now() }),
      code: undefined,
    };
  }
  const reply = await askInTime(run, question, cycle);
  // What came of a question that was broken off says nothing; an answer that came all the same is one.
  if (run.signal.aborted && reply.status !== 'answered') return undefined;
  const result = buildGaiaResult(reply, { ...facts, cached: false, endedAt: Date.now() });
  if (cache === undefined || result.status !== 'answered') return { result, code: reply.code };
  try {
    await cache.put(question, {
      finalAnswer: result.final_answer,
      rawAnswer: result.raw_answer,
      reasoningTrace: result.reasoning_trace,
    });
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { result, code: reply.code, cacheFault: error };
  }
  return { result, code: reply.code };
}

/** The team's reply, within the question's limits. */
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

function toCachedReply({ finalAnswer, ...answer }: CachedAnswer, seconds: number): TeamReply {
  return { ...NOTHING, status: 'answered', answer: finalAnswer, ...answer, seconds };
}

function createTimeoutReply(seconds: number): TeamReply {
  return { ...NOTHING, status: 'timeout', answer: null, rawAnswer: null, reasoningTrace: '', seconds };
}

/** Component, question and cause (REQ-067), and what to do. */
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
