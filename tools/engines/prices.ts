import * as z from 'zod';
import type { ModelReply } from './replies/server-reply.ts';

/** US dollars per million tokens. */
export const priceSchema = z.strictObject({
  prompt: z.number().nonnegative(),
  completion: z.number().nonnegative(),
  /** Prices of prompt tokens from the server's cache, and of those written into it; by default like any other. */
  cached: z.number().nonnegative().exactOptional(),
  cache_write: z.number().nonnegative().exactOptional(),
});
export type Price = z.infer<typeof priceSchema>;

/**
 * Presets, which age: list prices for plain requests (no batches) as of March 2026, from
 * openai.com/api/pricing and platform.claude.com/docs/en/about-claude/pricing. The option `price` overrides them.
 */
const PRESETS: Readonly<Record<string, Price>> = {
  'gpt-4o': { prompt: 2.5, cached: 1.25, completion: 10 },
  'gpt-4o-mini': { prompt: 0.15, cached: 0.075, completion: 0.6 },
  'gpt-4.1': { prompt: 2, cached: 0.5, completion: 8 },
  'gpt-4.1-mini': { prompt: 0.4, cached: 0.1, completion: 1.6 },
  'gpt-5': { prompt: 1.25, cached: 0.125, completion: 10 },
  'gpt-5-mini': { prompt: 0.25, cached: 0.025, completion: 2 },
  'claude-haiku-4-5': createClaudePrice(1, 5),
  'claude-sonnet-4-5': createClaudePrice(3, 15),
  'claude-sonnet-4-6': createClaudePrice(3, 15),
  'claude-opus-4-6': createClaudePrice(5, 25),
};

/** Creates a price of Anthropic's: reading the cache costs a tenth, writing it for five minutes a quarter more. */
function createClaudePrice(prompt: number, completion: number): Price {
  return { prompt, cached: prompt / 10, cache_write: prompt * 1.25, completion };
}

/** Returns the preset for a model, or for a dated version of it (`gpt-4o-2024-08-06`); undefined for all others. */
export function findPresetPrice(model: string): Price | undefined {
  const name = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
}

/** Returns the cost of a reply in US dollars; null if the price is not known or the server gave no figures. */
export function computeCostUsd(
  price: Price | undefined,
  { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 }: TokenFigures,
): number | null {
  if (price === undefined) return null;
  const { prompt, completion, cached = prompt, cache_write = prompt } = price;
  if ([prompt, completion, cached, cache_write].every((dollars) => dollars === 0)) return 0;
  if (promptTokens === null || completionTokens === null) return null;
  const plain = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens);
  const sum =
    plain * prompt + cachedTokens * cached + cacheWriteTokens * cache_write + completionTokens * completion;
  return sum / 1_000_000;
}

/** A server's figures: `cachedTokens` and `cacheWriteTokens` are part of `promptTokens`. */
type TokenFigures = Pick<
  ModelReply,
  'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cacheWriteTokens'
>;
