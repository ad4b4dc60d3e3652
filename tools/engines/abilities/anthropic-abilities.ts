import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import { API_VERSION, describeAnthropicServer } from '../servers/anthropic.ts';
import { findAnthropicKey, resolveAnthropicUrl } from '../servers/server-url.ts';
import { askServer, optionalBoolean, optionalNumber } from './ask-server.ts';
import type { CapabilityQuery } from './model-abilities.ts';
import { type ModelCapabilities, UNKNOWN_ABILITIES } from './model-abilities.ts';

const supported = z.object({ supported: optionalBoolean }).nullish().catch(undefined);
const modelSchema = z.object({
  id: z.string(),
  max_input_tokens: optionalNumber,
  capabilities: z
    .object({ image_input: supported, thinking: supported, structured_outputs: supported })
    .nullish()
    .catch(undefined),
});
const listSchema = z.object({ data: z.array(modelSchema) });

/** Queries the Models API; every model of this API supports tools. */
export async function queryAnthropicCapabilities(question: CapabilityQuery): Promise<ModelCapabilities> {
  const { host, model, environment } = question;
  const url = resolveAnthropicUrl(host, environment);
  const key = findAnthropicKey(url, environment);
  const server = describeAnthropicServer(url, key);
  const headers: Record<string, string> = { 'anthropic-version': API_VERSION };
  if (key !== undefined) headers['x-api-key'] = key;
  const listed = await askServer(server, { url: joinUrl(url, '/v1/models?limit=1000'), headers }, listSchema);
  // A name without a date stands for the newest version and is not in the list.
  const own =
    listed?.data.find(({ id }) => id === model) ??
    (await askServer(
      server,
      { url: joinUrl(url, `/v1/models/${encodeURIComponent(model)}`), headers },
      modelSchema,
    ));
  const { image_input, thinking } = own?.capabilities ?? {};
  return {
    ...UNKNOWN_ABILITIES,
    model,
    url,
    isThere: own === undefined ? null : true,
    tools: true,
    schemas: true,
    vision: image_input?.supported ?? null,
    thinking: thinking?.supported ?? null,
    contextTokens: own?.max_input_tokens ?? null,
    others: (listed?.data ?? []).map(({ id }) => ({ name: id, chats: true, tools: true })),
  };
}
