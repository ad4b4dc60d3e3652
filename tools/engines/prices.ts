import * as z from 'zod';

/** US dollars per million tokens. */
export const priceSchema = z.strictObject({
  prompt: z.number().nonnegative(),
  completion: z.number().nonnegative(),
});
export type Price = z.infer<typeof priceSchema>;

/** A model on one's own machine. */
export const FREE: Price = { prompt: 0, completion: 0 };

/**
 * Presets, which age: the makers' list prices for plain requests (no batches, no caching) as of March 2026, from
 * openai.com/api/pricing and platform.claude.com/docs/en/about-claude/pricing. The option `price` overrides them.
 */
const PRESETS: Readonly<Record<string, Price>> = {
  'gpt-4o': { prompt: 2.5, completion: 10 },
  'gpt-4o-mini': { prompt: 0.15, completion: 0.6 },
  'gpt-4.1': { prompt: 2, completion: 8 },
  'gpt-4.1-mini': { prompt: 0.4, completion: 1.6 },
  'gpt-5': { prompt: 1.25, completion: 10 },
  'gpt-5-mini': { prompt: 0.25, completion: 2 },
  'claude-haiku-4-5': { prompt: 1, completion: 5 },
  'claude-sonnet-4-5': { prompt: 3, completion: 15 },
  'claude-sonnet-4-6': { prompt: 3, completion: 15 },
  'claude-opus-4-6': { prompt: 5, completion: 25 },
};

/** The preset for a model, or for a dated version of it (`gpt-4o-2024-08-06`); undefined for all others. */
export function presetPrice(model: string): Price | undefined {
  const name = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
}

/** What a reply took, in US dollars; null where the price is not known, or the server said no figures. */
export function costUsd(
  price: Price | undefined,
  promptTokens: number,
  completionTokens: number,
): number | null {
  if (price === undefined) return null;
  if (price.prompt === 0 && price.completion === 0) return 0;
  // No reply takes nothing: the server left its figures out.
  if (promptTokens + completionTokens === 0) return null;
  return (promptTokens * price.prompt + completionTokens * price.completion) / 1_000_000;
}
