import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { LimitOptions } from '../plan/options.ts';
import { formatAttemptKey } from './journal/journal.ts';

/** Returns, in words, the limit that a question exceeded, or undefined. The time limit ends a question while it runs. */
export function findOverrun(
  attempt: Attempt,
  { questionTokens, questionCost }: LimitOptions,
): string | undefined {
  const { tokens, cost } = getUse(attempt);
  if (questionTokens !== undefined && tokens !== null && tokens > questionTokens)
    return `it used ${tokens} tokens; the limit for a question is ${questionTokens}`;
  if (questionCost !== undefined && (cost ?? 0) > questionCost)
    return `it cost $${cost}; the limit for a question is $${questionCost}`;
  return undefined;
}

/**
 * The time, tokens and cost that the teams of a run have used so far. A resumed run counts the tokens and cost of its earlier
 * attempts, because the user has paid for them, but only the time of this process.
 */
export class Spending {
  readonly #limits: LimitOptions;
  readonly #counted = new Set<string>();
  #tokens: number | null = 0;
  #costUsd: number | null = 0;
  #time: AbortSignal | undefined;

  constructor(limits: LimitOptions) {
    this.#limits = limits;
  }

  /** Aborts when the time of the run is up; undefined without a limit. The time begins at the first use. */
  get time(): AbortSignal | undefined {
    const { maxTime } = this.#limits;
    if (maxTime !== undefined) this.#time ??= AbortSignal.timeout(maxTime * 1000);
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
    const { maxTokens, maxCost } = this.#limits;
    if (maxTokens !== undefined && this.#tokens === null)
      return 'the server does not report the tokens of its replies, so --max-tokens cannot be enforced';
    if (maxCost !== undefined && this.#costUsd === null)
      return 'the cost of the replies is not known, so --max-cost cannot be enforced';
    if (maxTokens !== undefined && this.#tokens !== null && this.#tokens >= maxTokens)
      return `the run used ${this.#tokens} of ${maxTokens} tokens (--max-tokens)`;
    if (maxCost !== undefined && this.#costUsd !== null && this.#costUsd >= maxCost)
      return `the run cost $${this.#costUsd.toFixed(4)} of $${maxCost} (--max-cost)`;
    return undefined;
  }
}
