import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { priceSchema } from './prices.ts';

/** The options of a model engine that belong to the engine and not to the model. */
export type EngineSettings = z.infer<typeof settingsSchema>;

/** Maximum retries that a user may set; with more, another server is the better choice. */
const MAX_RETRIES = 20;

/** Minimum context: a smaller one does not hold a question with its tools. */
const MIN_CONTEXT_TOKENS = 1024;

const settingsSchema = z.object({
  /** Retries after a rate limit, a server error or a lost connection. */
  max_retries: z.int().min(0).max(MAX_RETRIES).default(5),
  /** The model that takes over when the primary one is unavailable. */
  fallback_model: z.string().min(1).optional(),
  /** The fallback's server, if it is another one. */
  fallback_base_url: z.string().min(1).optional(),
  /** US dollars per million tokens. */
  price: priceSchema.optional(),
  fallback_price: priceSchema.optional(),
  /** The form of tool calls: native, as text, or native if the server supports them and else as text. */
  tool_calls: z.enum(['auto', 'native', 'text']).default('auto'),
  /** Tokens of the model's context for prompt and reply together. */
  context: z.int().min(MIN_CONTEXT_TOKENS).optional(),
});

/**
 * Separates an engine's options into its own and those of the model, which go to the server unchanged.
 *
 * @param name the engine's name for messages
 * @param modelOptions the schema of the model's known options; others are passed through
 * @param reserved parts of the request that users must not set
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
  if (settings.success && model.success && forbidden.length === 0)
    return { settings: settings.data, model: model.data };
  throw createOptionError(name, options, [settings, model], forbidden);
}

/** The embedded engine's own options. Options for models (`tool_calls`, `context`) have no effect. */
const embeddedSchema = z.looseObject({
  /** 0: always the most probable answer; 1: each answer as often as its probability. */
  temperature: z.number().min(0).max(5).default(0.4),
  /** The seed of draws: the same seed repeats a run. */
  seed: z.int().default(1),
  /** Minimum probability of an answer, in place of those that were calibrated for texts and for tables. */
  threshold: z.number().min(0).max(1).optional(),
  /** A file of weights for tables in place of the shipped one, to evaluate weights that were trained without the test questions. */
  weights: z.string().min(1).optional(),
});

/** Names of the options that have an effect on the embedded engine. */
export const embeddedOptions: readonly string[] = Object.keys(embeddedSchema.shape);

/** @throws MeshError `usage` */
export function parseEmbeddedSettings(
  options: Readonly<Record<string, JsonValue>> = {},
): z.infer<typeof embeddedSchema> {
  const parsed = embeddedSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw createOptionError('extractive', options, [parsed]);
}

/** Creates the error for options that do not match their schemas, each with its value. */
function createOptionError(
  engine: string,
  options: Readonly<Record<string, JsonValue>>,
  results: readonly z.ZodSafeParseResult<unknown>[],
  others: readonly string[] = [],
): MeshError {
  const issues = results.flatMap(({ error }) => error?.issues ?? []);
  const faults = issues.map((issue) => {
    const text = formatIssues(new z.ZodError([issue]));
    const [key] = issue.path;
    return key === undefined ? text : text.replace(':', `=${JSON.stringify(options[String(key)])}:`);
  });
  return new MeshError(
    'usage',
    `the engine ${engine} does not take an option (--engine-option, or options in a team file): ${[...faults, ...others].join('; ')}`,
  );
}
