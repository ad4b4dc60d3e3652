import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { priceSchema } from './prices.ts';

/** The options of a model engine that are its own and not the model's. */
export type EngineSettings = z.infer<typeof settingsSchema>;

/** A user who wants more wants another server. */
const MAX_RETRIES = 20;

/** Less holds no question with its tools. */
const MIN_CONTEXT_TOKENS = 1024;

const settingsSchema = z.object({
  /** After a rate limit, a server error or a lost connection. */
  max_retries: z.int().min(0).max(MAX_RETRIES).default(5),
  /** Takes over when the model cannot be had. */
  fallback_model: z.string().min(1).optional(),
  /** Where the fallback is served, if it is elsewhere. */
  fallback_base_url: z.string().min(1).optional(),
  /** US dollars per million tokens. */
  price: priceSchema.optional(),
  fallback_price: priceSchema.optional(),
  /** How tools are called: as the server knows it, as text, or as text where the server knows no other way. */
  tool_calls: z.enum(['auto', 'native', 'text']).default('auto'),
  /** Tokens of the model's context, prompt and reply together. */
  context: z.int().min(MIN_CONTEXT_TOKENS).optional(),
});

/**
 * Parts an engine's options: the engine's own, and the model's, which go to the server as they are.
 *
 * @param name of the engine, for messages
 * @param modelOptions what is known of the model's; more is let through
 * @param reserved parts of the request that are not the user's to set
 * @throws MeshError `usage` for options that no server could take
 */
export function parseEngineSettings<Known extends z.ZodType<Record<string, unknown>>>(
  name: string,
  options: Readonly<Record<string, JsonValue>>,
  modelOptions: Known,
  reserved: readonly string[] = [],
): { settings: EngineSettings; model: z.infer<Known> } {
  const isOwn = (key: string) => Object.hasOwn(settingsSchema.shape, key);
  const part = (own: boolean) =>
    Object.fromEntries(Object.entries(options).filter(([key]) => isOwn(key) === own));
  const settings = settingsSchema.safeParse(part(true));
  const model = modelOptions.safeParse(part(false));
  const forbidden = reserved
    .filter((key) => Object.hasOwn(options, key))
    .map((key) => `${key} cannot be set`);
  const faults = [
    ...(settings.success ? [] : [formatIssues(settings.error)]),
    ...(model.success ? [] : [formatIssues(model.error)]),
    ...forbidden,
  ];
  if (settings.success && model.success && faults.length === 0)
    return { settings: settings.data, model: model.data };
  throw new MeshError('usage', `options of the ${name} engine: ${faults.join('; ')}`);
}
