import { UsageBook } from '@gaia-mesh/core/contracts/usage.ts';
import { sumLedgers, type TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { KnownGap } from './failures/known-gap.ts';

/** A report's figures on how a team worked, over all its attempts (RA-57). */
export interface RunMetricsOfTeam {
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
    readonly by_gap: Readonly<Partial<Record<KnownGap, number>>>;
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

/** Collects a team's metrics from its results. */
export class TeamTally {
  readonly #tools = new Map<string, { count: number; failed: number }>();
  readonly #usage = new UsageBook();
  readonly #byRole = new Map<string, number>();
  readonly #byGap = new Map<KnownGap, number>();
  #firstFailure: RunMetricsOfTeam['failures']['first'] = null;
  #processed = 0;
  #cached = 0;
  #errors = 0;
  #modelCalls = 0;
  #seconds = 0;
  #tokens: TokenLedgerFigures | undefined;
  #cachedSeconds = 0;

  add(result: Attempt): void {
    this.#processed += 1;
    if (result.status !== 'answered') {
      this.#errors += 1;
      this.#firstFailure ??= { task_id: result.task_id, reason: result.reason ?? result.status };
    }
    if (result.failed_role !== undefined) count(this.#byRole, result.failed_role);
    if (result.gap !== undefined) count(this.#byGap, result.gap);
    if (result.cached) {
      this.#cached += 1;
      this.#cachedSeconds += getUse(result).seconds;
      return;
    }
    this.#modelCalls += result.model_calls ?? 0;
    this.#seconds += getUse(result).seconds;
    this.#tokens = sumLedgers([this.#tokens, result.token_ledger].flatMap((one) => one ?? []));
    for (const { tool, count: times, failed } of result.tool_calls) {
      const sum = this.#tools.get(tool) ?? { count: 0, failed: 0 };
      this.#tools.set(tool, { count: sum.count + times, failed: sum.failed + failed });
    }
    for (const usage of result.usage) this.#usage.add(usage);
  }

  metrics(): RunMetricsOfTeam {
    const fresh = this.#processed - this.#cached;
    const of = (sum: number, n: number) => (n === 0 ? null : sum / n);
    return {
      metrics: {
        questions_processed: this.#processed,
        cache_hit_rate: of(this.#cached, this.#processed),
        tool_usage: Object.fromEntries([...this.#tools].sort(([, a], [, b]) => b.count - a.count)),
        model_calls_per_question: of(this.#modelCalls, fresh),
        seconds_per_question: of(this.#seconds, fresh),
        seconds_per_cached: of(this.#cachedSeconds, this.#cached),
        error_rate: of(this.#errors, this.#processed),
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

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
