import { addModelSums, type ModelSums, sumOfKnown, UsageBook } from '@gaia-mesh/core/contracts/usage.ts';
import type { TaskStatus } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import { sumLedgers, type TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import { computeClusteredInterval } from '../statistics/answers/clustered.ts';
import { computeWilson, type Interval } from '../statistics/inference/confidence.ts';

/**
 * Resources that answers took. `cost` is in US dollars, null if a price is not known; `bytes` are counted on the wire; time is in
 * seconds.
 */
export interface ResourceUse {
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly packets: number | null;
  readonly bytes: number | null;
  readonly seconds: number | null;
}

/**
 * Score and cost of a group of questions. The denominator is every question with a known answer: failed, timed-out and unasked
 * ones count as wrong (OV-44). The resources are those of this run, in which answers from the cache took nothing.
 */
export interface Figures extends ResourceUse {
  readonly questions: number;
  readonly answered: number;
  readonly failed: number;
  readonly timeout: number;
  readonly not_asked: number;
  readonly cached: number;
  /** Resources that cached answers took when they were asked; null if one is not known, undefined without any. */
  readonly cached_use?: ResourceUse | undefined;
  /** Questions whose true answer is known. */
  readonly scored: number;
  readonly correct: number;
  /** Share of right answers among the scored questions, by the official scorer; null if none is scored. */
  readonly accuracy: number | null;
  /** Bounds of its 95 % interval (Wilson). */
  readonly low: number | null;
  readonly high: number | null;
  readonly correct_lenient: number;
  /** Resources per correct answer that did not come from the cache; null if there is none. */
  readonly per_correct: ResourceUse;
}

const UNKNOWN_USE: ResourceUse = { tokens: null, cost: null, packets: null, bytes: null, seconds: null };

/**
 * Returns the resources of answers for a table of costs, in total and per right answer. Answers from the cache count with what
 * they took when they were asked. If that is not known, they are left out; if there are no other answers, the total is unknown.
 */
export function findKnownUse(figures: Figures): {
  readonly total: ResourceUse;
  readonly perRight: ResourceUse;
  readonly hasCached: boolean;
} {
  const { cached, cached_use, correct, questions, not_asked, per_correct } = figures;
  const isAllCached = cached > 0 && cached === questions - not_asked;
  // Packets are counted for every attempt, so that only an attempt without any figures leaves them unknown.
  if (cached_use === undefined || cached_use.packets === null)
    return { total: isAllCached ? UNKNOWN_USE : figures, perRight: per_correct, hasCached: false };
  const total = addUse(figures, cached_use);
  return { total, perRight: divideUse(total, correct), hasCached: true };
}

function addUse(a: ResourceUse, b: ResourceUse): ResourceUse {
  return {
    tokens: sumOfKnown(a.tokens, b.tokens),
    cost: sumOfKnown(a.cost, b.cost),
    packets: sumOfKnown(a.packets, b.packets),
    bytes: sumOfKnown(a.bytes, b.bytes),
    seconds: sumOfKnown(a.seconds, b.seconds),
  };
}

function divideUse({ tokens, cost, packets, bytes, seconds }: ResourceUse, by: number): ResourceUse {
  const each = (sum: number | null) => (sum === null || by === 0 ? null : sum / by);
  return {
    tokens: each(tokens),
    cost: each(cost),
    packets: each(packets),
    bytes: each(bytes),
    seconds: each(seconds),
  };
}

/** The figures on how a team worked, over all its attempts (RA-57). */
export interface WorkFigures {
  readonly metrics: {
    readonly questions_processed: number;
    readonly cache_hit_rate: number | null;
    readonly tool_usage: Readonly<Record<string, { readonly count: number; readonly failed: number }>>;
    /** Averages over the attempts that were not cached. */
    readonly model_calls_per_question: number | null;
    readonly seconds_per_question: number | null;
    /** Average over answers from the cache; null without one. */
    readonly seconds_per_cached: number | null;
    readonly error_rate: number | null;
  };
  /** Breakdown of the tokens of prompts and replies; undefined if no model was asked. */
  readonly token_ledger?: TokenLedgerFigures | undefined;
  /** Tokens and dollars by role and model. */
  readonly roles: Readonly<Record<string, RoleSum>>;
  readonly failures: {
    /** Failures by role, if the team reports the role. */
    readonly by_role: Readonly<Record<string, number>>;
    /** Wrong and failed attempts by known weaknesses (OV-47). */
    readonly by_gap: Readonly<Partial<Record<NonNullable<Attempt['gap']>, number>>>;
    /** The first attempt that failed or timed out, with its reason, which often explains the others. */
    readonly first: { readonly task_id: string; readonly reason: string } | null;
  };
}

interface RoleSum {
  readonly calls: number;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cost: number | null;
}

const MEASURES = ['normalized_em', 'f1', 'rouge_l', 'exact_match', 'quality_score'] as const;
const TRAFFIC = ['token_sum', 'bytes_tx', 'bytes_rx', 'pkt_cnt'] as const;
type Traffic = Record<(typeof TRAFFIC)[number], number>;

/** Sums the outcomes and resources of attempts. Its memory grows only with the number of questions. */
export class AttemptSum {
  #questions = 0;
  #attempts = 0;
  readonly #status: Record<TaskStatus, number> = { answered: 0, failed: 0, timeout: 0 };
  readonly #ended: Record<TaskStatus, number> = { answered: 0, failed: 0, timeout: 0 };
  readonly #scores = new Map<string, { sum: number; count: number }>();
  /** Sum and number of exact matches by question, since a question may have several attempts. */
  readonly #matches = new Map<string, { sum: number; count: number }>();
  readonly #traffic: Traffic = { token_sum: 0, bytes_tx: 0, bytes_rx: 0, pkt_cnt: 0 };
  readonly #tools = new Map<string, { count: number; failed: number }>();
  readonly #usage = new UsageBook();
  readonly #byRole = new Map<string, number>();
  readonly #byGap = new Map<NonNullable<Attempt['gap']>, number>();
  #models: ModelSums | undefined;
  #tokens: TokenLedgerFigures | undefined;
  #firstFailure: WorkFigures['failures']['first'] = null;
  #scored = 0;
  #correct = 0;
  #correctLenient = 0;
  #correctFresh = 0;
  #cached = 0;
  #cachedSeconds = 0;
  #use: ResourceUse = { tokens: 0, cost: 0, packets: 0, bytes: 0, seconds: 0 };
  #cachedUse: ResourceUse | undefined;

  /**
   * @param attempt undefined for a question that was not asked
   * @param isScored true if the question has a known answer
   */
  add(attempt: Attempt | undefined, isScored: boolean): void {
    this.#questions += 1;
    if (isScored) this.#scored += 1;
    if (attempt === undefined) return;
    this.#attempts += 1;
    this.#addOutcome(attempt);
    const use = getUse(attempt);
    if (attempt.cached) {
      this.#cached += 1;
      this.#cachedSeconds += use.seconds;
      const took = attempt.took ?? UNKNOWN_USE;
      this.#cachedUse = this.#cachedUse === undefined ? took : addUse(this.#cachedUse, took);
      return;
    }
    if (attempt.correct === true) this.#correctFresh += 1;
    this.#use = addUse(this.#use, use);
    for (const name of TRAFFIC) this.#traffic[name] += attempt[name];
    if (attempt.model_calls !== undefined) this.#models = addModelSums(this.#models ?? {}, attempt);
    this.#tokens = sumLedgers([this.#tokens, attempt.token_ledger].flatMap((one) => one ?? []));
    for (const { tool, count, failed } of attempt.tool_calls) {
      const sum = this.#tools.get(tool) ?? { count: 0, failed: 0 };
      this.#tools.set(tool, { count: sum.count + count, failed: sum.failed + failed });
    }
    for (const usage of attempt.usage) this.#usage.add(usage);
  }

  #addOutcome(attempt: Attempt): void {
    const { task_id, status, ended = status, reason = status, failed_role, gap } = attempt;
    this.#status[status] += 1;
    this.#ended[ended] += 1;
    for (const name of MEASURES) {
      const value = attempt[name];
      if (value === null) continue;
      addScore(this.#scores, name, value);
      if (name === 'normalized_em') addScore(this.#matches, task_id, value);
    }
    if (attempt.correct === true) this.#correct += 1;
    if (attempt.correct_lenient === true) this.#correctLenient += 1;
    if (status !== 'answered') this.#firstFailure ??= { task_id, reason };
    if (failed_role !== undefined) increment(this.#byRole, failed_role);
    if (gap !== undefined) increment(this.#byGap, gap);
  }

  /** Attempts by the way in which their tasks ended on the mesh. */
  get ended(): Readonly<Record<TaskStatus, number>> {
    return this.#ended;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Traffic and model usage of attempts that were not cached. */
  get traffic(): Readonly<Traffic> & Partial<ModelSums> {
    return { ...this.#traffic, ...this.#models };
  }

  /** Returns the mean of a measure; null if no true answer is known. */
  mean(measure: (typeof MEASURES)[number]): number | null {
    const entry = this.#scores.get(measure);
    return entry === undefined ? null : entry.sum / entry.count;
  }

  /** The 95 % interval of exact matches, by question if some were tried several times; null if no true answer is known. */
  get interval(): Interval | null {
    const { sum = 0, count = 0 } = this.#scores.get('normalized_em') ?? {};
    if (count === 0) return null;
    const questions = [...this.#matches.values()];
    const attempts = Math.max(...questions.map((question) => question.count));
    if (attempts === 1) return computeWilson(sum, count);
    // A question that was tried less often, since the batch was interrupted, counts by its share.
    const right = questions.map((question) => (question.sum / question.count) * attempts);
    return computeClusteredInterval(right, attempts);
  }

  figures(): Figures {
    const { low, high } = computeWilson(this.#correct, this.#scored);
    const isScored = this.#scored > 0;
    const { seconds } = this.#use;
    const taken = { ...this.#use, seconds: seconds === null ? null : Math.round(seconds * 1e6) / 1e6 };
    return {
      questions: this.#questions,
      ...this.#status,
      not_asked: this.#questions - this.#attempts,
      cached: this.#cached,
      cached_use: this.#cachedUse,
      scored: this.#scored,
      correct: this.#correct,
      accuracy: isScored ? this.#correct / this.#scored : null,
      low: isScored ? low : null,
      high: isScored ? high : null,
      correct_lenient: this.#correctLenient,
      ...taken,
      per_correct: divideUse(taken, this.#correctFresh),
    };
  }

  work(): WorkFigures {
    const fresh = this.#attempts - this.#cached;
    const average = (sum: number | null, by: number) => (sum === null || by === 0 ? null : sum / by);
    return {
      metrics: {
        questions_processed: this.#attempts,
        cache_hit_rate: average(this.#cached, this.#attempts),
        tool_usage: Object.fromEntries([...this.#tools].sort(([, a], [, b]) => b.count - a.count)),
        model_calls_per_question: average(this.#models?.model_calls ?? 0, fresh),
        seconds_per_question: average(this.#use.seconds, fresh),
        seconds_per_cached: average(this.#cachedSeconds, this.#cached),
        error_rate: average(this.#attempts - this.#status.answered, this.#attempts),
      },
      token_ledger: this.#tokens,
      roles: Object.fromEntries(
        this.#usage.entries.map(
          ({ role, model, calls, prompt_tokens, completion_tokens, cost_usd: cost }): [string, RoleSum] => [
            `${role} ${model}`,
            { calls, prompt_tokens, completion_tokens, cost },
          ],
        ),
      ),
      failures: {
        by_role: Object.fromEntries(this.#byRole),
        by_gap: Object.fromEntries(this.#byGap),
        first: this.#firstFailure,
      },
    };
  }
}

function addScore(scores: Map<string, { sum: number; count: number }>, name: string, value: number): void {
  const { sum, count } = scores.get(name) ?? { sum: 0, count: 0 };
  scores.set(name, { sum: sum + value, count: count + 1 });
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
