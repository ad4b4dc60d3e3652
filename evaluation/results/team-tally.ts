import { UsageBook } from '@gaia-mesh/core/contracts/usage.ts';
import { sumLedgers, type TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import type { KnownGap } from './failures/known-gap.ts';
import type { GaiaResult } from './gaia-result.ts';

/** What a report says of how a team worked, over all its attempts (RA-57). */
export interface RunMetricsOfTeam {
  readonly metrics: {
    readonly questions_processed: number;
    readonly cache_hit_rate: number | null;
    readonly tool_usage: Readonly<Record<string, { readonly count: number; readonly failed: number }>>;
    /** Of the attempts that were not cached. */
    readonly model_calls_per_question: number | null;
    readonly seconds_per_question: number | null;
    /** Of an answer from the cache; null without one. */
    readonly seconds_per_cached: number | null;
    readonly error_rate: number | null;
  };
  /** Where the tokens of prompts and replies went; undefined where no model was asked. */
  readonly token_ledger?: TokenLedgerFigures;
  /** Tokens and dollars by role and model. */
  readonly roles: Readonly<Record<string, RoleSum>>;
  readonly failures: {
    /** By the role that failed, where the team says it. */
    readonly by_role: Readonly<Record<string, number>>;
    /** Wrong and failed attempts by what such teams are known to be weak at (OV-47). */
    readonly by_gap: Readonly<Partial<Record<KnownGap, number>>>;
    /** The first attempt that failed or ran out of time, and why: often it is why the others did. */
    readonly first: { readonly task_id: string; readonly reason: string } | null;
  };
}

interface RoleSum {
  readonly calls: number;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cost: number | null;
}

/** Collects it. */
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

  add(result: GaiaResult): void {
    this.#processed += 1;
    if (result.status !== 'answered') {
      this.#errors += 1;
      this.#firstFailure ??= { task_id: result.task_id, reason: result.reason ?? result.status };
    }
    if (result.failed_role !== undefined) count(this.#byRole, result.failed_role);
    if (result.gap !== undefined) count(this.#byGap, result.gap);
    if (result.cached) {
      this.#cached += 1;
      this.#cachedSeconds += result.seconds;
      return;
    }
    this.#modelCalls += result.model_calls;
    this.#seconds += result.seconds;
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
      ...(this.#tokens === undefined ? {} : { token_ledger: this.#tokens }),
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
