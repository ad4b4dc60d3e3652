import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import type { GaiaResult } from '../results/gaia-result.ts';

/** What a batch, or one question of it, may take; what is not given is not limited. */
interface Limits {
  readonly seconds?: number | undefined;
  readonly tokens?: number | undefined;
  readonly costUsd?: number | undefined;
}

export interface BatchLimits {
  readonly question: Limits;
  readonly run: Limits;
}

/** Which limit a question went over, in words; undefined: none, as far as it is known. Time is held while it is asked. */
export function findOverrun(
  { tokens, cost }: Pick<GaiaResult, 'tokens' | 'cost'>,
  limits: Limits,
): string | undefined {
  if (limits.tokens !== undefined && tokens !== null && tokens > limits.tokens)
    return `it took ${tokens} tokens; a question may take ${limits.tokens}`;
  if (limits.costUsd !== undefined && (cost ?? 0) > limits.costUsd)
    return `it cost $${cost}; a question may cost $${limits.costUsd}`;
  return undefined;
}

/** What a run has taken so far. What was taken before a kill counts, too: whoever resumes has paid for it. */
export class Spending {
  readonly #limits: Limits;
  #tokens: number | null = 0;
  #costUsd: number | null = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  add({ tokens, cost, cached }: Pick<GaiaResult, 'tokens' | 'cost' | 'cached'>): void {
    if (cached) return;
    this.#tokens = sumOfKnown(this.#tokens, tokens);
    this.#costUsd = sumOfKnown(this.#costUsd, cost);
  }

  /** Which limit is reached, or can no longer be held, in words: no further question is asked then. */
  reached(): string | undefined {
    const { tokens, costUsd } = this.#limits;
    if (tokens !== undefined && this.#tokens === null)
      return 'the server does not say how many tokens its replies took, so --max-tokens cannot be held';
    if (costUsd !== undefined && this.#costUsd === null)
      return 'what the replies cost is not known, so --max-cost cannot be held';
    if (tokens !== undefined && this.#tokens !== null && this.#tokens >= tokens)
      return `the run has taken ${this.#tokens} tokens of ${tokens} (--max-tokens)`;
    if (costUsd !== undefined && this.#costUsd !== null && this.#costUsd >= costUsd)
      return `the run has cost $${this.#costUsd.toFixed(4)} of $${costUsd} (--max-cost)`;
    return undefined;
  }
}

/** What the command line says of limits. */
export interface LimitOptions {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxTime?: number;
  readonly questionTokens?: number;
  readonly questionCost?: number;
  readonly questionTime?: number;
}

export function toBatchLimits(options: LimitOptions): BatchLimits {
  const { questionTokens, questionCost, questionTime } = options;
  return {
    run: { tokens: options.maxTokens, costUsd: options.maxCost, seconds: options.maxTime },
    question: { tokens: questionTokens, costUsd: questionCost, seconds: questionTime },
  };
}
