import * as z from 'zod';
import type { ModelUsage } from './engine.ts';
import type { JsonObject } from './packet.ts';

/** File in an agent's workspace with one line per model reply: a {@link Usage} with the task's id. */
export const USAGE_FILE = 'usage.log';

/**
 * Usage of one model by one role, over all its calls in a task. `cost_usd` is null if no price is known,
 * tokens if the server did not report them for each reply.
 */
export const usageSchema = z.object({
  role: z.string(),
  model: z.string(),
  calls: z.int().nonnegative(),
  prompt_tokens: z.int().nonnegative().nullable(),
  completion_tokens: z.int().nonnegative().nullable(),
  /** Prompt tokens that the server had cached; present if the server reports it. */
  cached_tokens: z.int().nonnegative().exactOptional(),
  cost_usd: z.number().nonnegative().nullable(),
});

export type Usage = z.infer<typeof usageSchema>;

/** Usage of all models by all roles: keys of results and metrics, present only in runs with a model. */
export const modelSumsSchema = z.object({
  model_calls: z
    .int()
    .nonnegative()
    .exactOptional()
    .describe('replies of models; this and the next three are there only in runs with a model'),
  prompt_tokens: z
    .int()
    .nonnegative()
    .nullable()
    .exactOptional()
    .describe('tokens of the prompts, by the count of the model server; null where it did not say'),
  completion_tokens: z
    .int()
    .nonnegative()
    .nullable()
    .exactOptional()
    .describe('tokens of the replies, by the count of the model server; null where it did not say'),
  cost_usd: z
    .number()
    .nonnegative()
    .nullable()
    .exactOptional()
    .describe('US dollars; null where a price is not known'),
});

export type ModelSums = Readonly<Required<z.infer<typeof modelSumsSchema>>>;

/** Returns one model reply as the usage of the role that asked for it. */
export function toUsage(role: string, usage: ModelUsage): Usage {
  const { model, promptTokens, completionTokens, cachedTokens, costUsd } = usage;
  return {
    role,
    model,
    calls: 1,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    ...(cachedTokens === undefined ? {} : { cached_tokens: cachedTokens }),
    cost_usd: costUsd,
  };
}

const NO_MODELS: ModelSums = { model_calls: 0, prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 };

/** Adds usage of models; what asked no model has none of the keys. */
export function addModelSums(first: Partial<ModelSums>, second: Partial<ModelSums>): ModelSums {
  const [a, b] = [
    { ...NO_MODELS, ...first },
    { ...NO_MODELS, ...second },
  ];
  return {
    model_calls: a.model_calls + b.model_calls,
    prompt_tokens: sumOfKnown(a.prompt_tokens, b.prompt_tokens),
    completion_tokens: sumOfKnown(a.completion_tokens, b.completion_tokens),
    cost_usd: sumOfKnown(a.cost_usd, b.cost_usd),
  };
}

/** Adds dollars or tokens; an unknown part makes the sum unknown. */
export function sumOfKnown(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function sumCachedTokens(a: Usage, b: Usage): Pick<Usage, 'cached_tokens'> {
  if (a.cached_tokens === undefined && b.cached_tokens === undefined) return {};
  return { cached_tokens: (a.cached_tokens ?? 0) + (b.cached_tokens ?? 0) };
}

/** Sums of usage by role and model. */
export class UsageBook {
  readonly #sums = new Map<string, Usage>();

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
      prompt_tokens: sumOfKnown(sum.prompt_tokens, usage.prompt_tokens),
      completion_tokens: sumOfKnown(sum.completion_tokens, usage.completion_tokens),
      ...sumCachedTokens(sum, usage),
      cost_usd: sumOfKnown(sum.cost_usd, usage.cost_usd),
    });
  }

  get entries(): Usage[] {
    return [...this.#sums.values()];
  }

  /** Sum over all roles and models. */
  get total(): ModelSums {
    return this.entries
      .map(({ calls, cached_tokens: _, ...usage }) => ({ ...usage, model_calls: calls }))
      .reduce<ModelSums>(addModelSums, NO_MODELS);
  }

  toPayload(): JsonObject[] {
    return this.entries.map((usage) => ({ ...usage }));
  }
}
