import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import type { ModelServer } from '../servers/model-client.ts';
import { describeOpenaiServer } from '../servers/openai.ts';
import { findOpenaiKey, resolveOpenaiUrl } from '../servers/server-url.ts';
import { askServer, optionalBoolean, optionalNumber } from './ask-server.ts';
import type { CapabilityQuery } from './model-abilities.ts';
import { type ModelCapabilities, UNKNOWN_ABILITIES } from './model-abilities.ts';

/** A list of models with further fields: vLLM, OpenRouter and Groq name the context length differently. */
const modelsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish(),
      max_model_len: optionalNumber,
      context_length: optionalNumber,
      context_window: optionalNumber,
    }),
  ),
});

/** The properties of llama.cpp (tools/server/README.md of https://github.com/ggml-org/llama.cpp). */
const propsSchema = z.object({
  default_generation_settings: z.object({ n_ctx: optionalNumber }),
  modalities: z.object({ vision: optionalBoolean }).nullish(),
  chat_template_caps: z
    .object({ supports_tools: optionalBoolean, supports_tool_calls: optionalBoolean })
    .nullish(),
});

/** The list of LM Studio (https://lmstudio.ai/docs/app/api/endpoints/rest). */
const studioSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      max_context_length: optionalNumber,
      loaded_context_length: optionalNumber,
      capabilities: z.array(z.string()).nullish(),
    }),
  ),
});

export async function queryOpenaiCapabilities({
  host,
  model,
  environment,
}: CapabilityQuery): Promise<ModelCapabilities> {
  const url = resolveOpenaiUrl(host, environment);
  const key = findOpenaiKey(url, environment);
  const server = describeOpenaiServer(url, key);
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const { origin } = new URL(url);
  const listed = await askServer(server, { url: joinUrl(url, '/models'), headers }, modelsSchema);
  const own = listed?.data.find(({ id }) => listNames(model).includes(id));
  // The makers' own servers have no further endpoints.
  const isLocal = new URL(url).protocol === 'http:';
  const props = isLocal
    ? await askServer(server, { url: joinUrl(origin, '/props'), headers }, propsSchema)
    : undefined;
  const studio =
    isLocal && props === undefined
      ? await askServer(server, { url: joinUrl(origin, '/api/v0/models'), headers }, studioSchema)
      : undefined;
  const there = studio?.data.find(({ id }) => id === model);
  let isThere: boolean | null = own === undefined ? null : true;
  // llama.cpp, which has properties, serves its one model under any name.
  if (own === undefined && props === undefined && isWhole(listed?.data ?? []))
    isThere = await knowsUnlisted(server, {
      url: joinUrl(url, `/models/${encodeURIComponent(model)}`),
      headers,
    });
  const caps = props?.chat_template_caps;
  const context =
    props?.default_generation_settings.n_ctx ??
    there?.loaded_context_length ??
    there?.max_context_length ??
    own?.max_model_len ??
    own?.context_length ??
    own?.context_window;
  return {
    ...UNKNOWN_ABILITIES,
    model,
    url,
    isThere,
    chats: there === undefined ? null : there.type !== 'embeddings',
    tools:
      caps?.supports_tools ?? caps?.supports_tool_calls ?? there?.capabilities?.includes('tool_use') ?? null,
    vision: props?.modalities?.vision ?? (there === undefined ? null : there.type === 'vlm'),
    contextTokens: context ?? null,
    others: (listed?.data ?? []).map(({ id }) => {
      const known = studio?.data.find((other) => other.id === id);
      return {
        name: id,
        chats: known === undefined ? null : known.type !== 'embeddings',
        tools: known?.capabilities?.includes('tool_use') ?? null,
      };
    }),
  };
}

/** Returns the names under which lists have a model: Gemini's with a folder, Ollama's with a tag, OpenRouter's without a variant. */
function listNames(model: string): string[] {
  const [plain = model] = model.split(':');
  return [model, `models/${model}`, `${model}:latest`, plain];
}

/** Tells whether a list has all models: gateways may list a pattern such as `openai/*`, and some servers list nothing. */
function isWhole(list: readonly { id: string }[]): boolean {
  return list.length > 0 && list.every(({ id }) => !id.includes('*'));
}

/**
 * Tells whether a server knows a model that its list lacks, such as the newest version of a model by its name without a date; null
 * if it does not say.
 */
async function knowsUnlisted(
  server: ModelServer,
  question: Parameters<typeof askServer>[1],
): Promise<boolean | null> {
  try {
    return (await askServer(server, question, z.object({ id: z.string() }))) !== undefined;
  } catch (error) {
    // The server has just accepted the key and listed its models, so this says nothing about either.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
