import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { LimitOptions } from '../plan/options.ts';

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

/** Returns, in words, the limit that a question exceeded, or undefined. Time is limited while the question is asked. */
export function findOverrun(attempt: Attempt, limits: Limits): string | undefined {
  const { tokens, cost } = getUse(attempt);
  if (limits.tokens !== undefined && tokens !== null && tokens > limits.tokens)
    return `it used ${tokens} tokens; the limit for a question is ${limits.tokens}`;
  if (limits.costUsd !== undefined && (cost ?? 0) > limits.costUsd)
    return `it cost $${cost}; the limit for a question is $${limits.costUsd}`;
  return undefined;
}

/** Tokens and cost of a run so far. Those from before a kill count, because the user has paid for them. */
export class Spending {
  readonly #limits: Limits;
  #tokens: number | null = 0;
  #costUsd: number | null = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  add(attempt: Attempt): void {
    if (attempt.cached) return;
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
