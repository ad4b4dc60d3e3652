import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { LimitOptions } from '../plan/options.ts';
import { formatAttemptKey } from './journal/journal.ts';

/** Limits of a batch or of one question; an undefined value is no limit. */
interface Limits {
  readonly seconds?: number | undefined;
  readonly tokens?: number | undefined;
  readonly costUsd?: number | undefined;
}

export interface BatchLimits {
  readonly question: Limits;
  readonly run: Limits;
}

/** Returns, in words, the limit that a question exceeded, or undefined. The time limit ends a question while it runs. */
export function findOverrun(attempt: Attempt, limits: Limits): string | undefined {
  const { tokens, cost } = getUse(attempt);
  if (limits.tokens !== undefined && tokens !== null && tokens > limits.tokens)
    return `it used ${tokens} tokens; the limit for a question is ${limits.tokens}`;
  if (limits.costUsd !== undefined && (cost ?? 0) > limits.costUsd)
    return `it cost $${cost}; the limit for a question is $${limits.costUsd}`;
  return undefined;
}

/**
 * The time, tokens and cost that the teams of a run have used so far. A resumed run counts the tokens and cost of its earlier
 * attempts, because the user has paid for them, but only the time of this process.
 */
export class Spending {
  readonly #limits: Limits;
  readonly #counted = new Set<string>();
  #tokens: number | null = 0;
  #costUsd: number | null = 0;
  #time: AbortSignal | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Aborts when the time of the run is up; undefined without a limit. The time begins at the first use. */
  get time(): AbortSignal | undefined {
    const { seconds } = this.#limits;
    if (seconds !== undefined) this.#time ??= AbortSignal.timeout(seconds * 1000);
    return this.#time;
  }

  /** Counts an attempt once, even if several rounds of a command meet it. */
  add(attempt: Attempt): void {
    const key = formatAttemptKey(attempt);
    if (attempt.cached || this.#counted.has(key)) return;
    this.#counted.add(key);
    const { tokens, cost } = getUse(attempt);
    this.#tokens = sumOfKnown(this.#tokens, tokens);
    this.#costUsd = sumOfKnown(this.#costUsd, cost);
  }

  /** Returns, in words, the limit that is reached or can no longer be kept; no further question is asked then. */
  reached(): string | undefined {
    const { tokens, costUsd } = this.#limits;
    if (tokens !== undefined && this.#tokens === null)
      return 'the server does not report the tokens of its replies, so --max-tokens cannot be enforced';
    if (costUsd !== undefined && this.#costUsd === null)
      return 'the cost of the replies is not known, so --max-cost cannot be enforced';
    if (tokens !== undefined && this.#tokens !== null && this.#tokens >= tokens)
      return `the run used ${this.#tokens} of ${tokens} tokens (--max-tokens)`;
    if (costUsd !== undefined && this.#costUsd !== null && this.#costUsd >= costUsd)
      return `the run cost $${this.#costUsd.toFixed(4)} of $${costUsd} (--max-cost)`;
    return undefined;
  }
}

export function toBatchLimits(options: LimitOptions): BatchLimits {
  const { questionTokens, questionCost, questionTime } = options;
  return {
    run: { tokens: options.maxTokens, costUsd: options.maxCost, seconds: options.maxTime },
    question: { tokens: questionTokens, costUsd: questionCost, seconds: questionTime },
  };
}
