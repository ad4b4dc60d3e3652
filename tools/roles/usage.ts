import * as z from 'zod';
import type { ModelUsage } from '../../core/engine.ts';
import type { JsonObject } from '../../core/packet.ts';

/** What one role took of one model, over all its calls in a task. `cost_usd` is null where no price is known. */
export const usageSchema = z.object({
  role: z.string(),
  model: z.string(),
  calls: z.int().nonnegative(),
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  cost_usd: z.number().nonnegative().nullable(),
});

export type Usage = z.infer<typeof usageSchema>;

/** Sums of usage, by role and model. */
export class UsageBook {
  readonly #sums = new Map<string, Usage>();

  count(role: string, { model, promptTokens, completionTokens, costUsd }: ModelUsage): void {
    this.add({
      role,
      model,
      calls: 1,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      cost_usd: costUsd,
    });
  }

  add(usage: Usage): void {
    const key = `${usage.role} ${usage.model}`;
    const sum = this.#sums.get(key);
    if (sum === undefined) {
      this.#sums.set(key, usage);
      return;
    }
    this.#sums.set(key, {
      ...sum,
      calls: sum.calls + usage.calls,
      prompt_tokens: sum.prompt_tokens + usage.prompt_tokens,
      completion_tokens: sum.completion_tokens + usage.completion_tokens,
      cost_usd: sum.cost_usd === null || usage.cost_usd === null ? null : sum.cost_usd + usage.cost_usd,
    });
  }

  /** Over all roles and models. */
  get total(): { readonly tokens: number; readonly costUsd: number | null } {
    let tokens = 0;
    let costUsd: number | null = 0;
    for (const { prompt_tokens, completion_tokens, cost_usd } of this.#sums.values()) {
      tokens += prompt_tokens + completion_tokens;
      costUsd = costUsd === null || cost_usd === null ? null : costUsd + cost_usd;
    }
    return { tokens, costUsd };
  }

  toPayload(): JsonObject[] {
    return [...this.#sums.values()].map((usage) => ({ ...usage }));
  }
}
