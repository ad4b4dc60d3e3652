import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import { describeOllamaServer } from '../servers/ollama.ts';
import { resolveOllamaUrl } from '../servers/server-url.ts';
import { askServer } from './ask-server.ts';
import type { CapabilityQuery } from './model-abilities.ts';
import { type ModelCapabilities, UNKNOWN_ABILITIES } from './model-abilities.ts';

const capabilities = z.array(z.string()).nullish().catch(undefined);
const tagsSchema = z.object({ models: z.array(z.object({ name: z.string(), capabilities })) });
const showSchema = z.object({ capabilities, model_info: z.record(z.string(), z.unknown()).nullish() });

/** Queries `/api/tags` and `/api/show` (docs/api.md of https://github.com/ollama/ollama); older servers omit the capabilities. */
export async function queryOllamaCapabilities({
  host,
  model,
  environment,
}: CapabilityQuery): Promise<ModelCapabilities> {
  const url = resolveOllamaUrl(host, environment);
  const server = describeOllamaServer(url, undefined);
  const tags = await askServer(server, { url: joinUrl(url, '/api/tags') }, tagsSchema);
  const shown = await askServer(server, { url: joinUrl(url, '/api/show'), body: { model } }, showSchema);
  const can = (list: readonly string[] | null | undefined, name: string) => list?.includes(name) ?? null;
  const names = tags?.models.map(({ name }) => name);
  const known = shown?.capabilities;
  const [, context] =
    Object.entries(shown?.model_info ?? {}).find(([key]) => key.endsWith('.context_length')) ?? [];
  return {
    ...UNKNOWN_ABILITIES,
    model,
    url,
    isThere: shown === undefined ? (names?.some((name) => isSame(name, model)) ?? null) : true,
    chats: can(known, 'completion'),
    tools: can(known, 'tools'),
    vision: can(known, 'vision'),
    thinking: can(known, 'thinking'),
    schemas: true,
    contextTokens: z.int().positive().safeParse(context).data ?? null,
    others: (tags?.models ?? []).map((other) => ({
      name: other.name,
      chats: can(other.capabilities, 'completion'),
      tools: can(other.capabilities, 'tools'),
    })),
  };
}

/** Compares names: one without a tag means `:latest`. */
function isSame(name: string, model: string): boolean {
  return name === model || name === `${model}:latest`;
}
