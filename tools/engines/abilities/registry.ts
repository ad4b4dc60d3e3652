import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { findServerKind } from '../servers/server-url.ts';
import type { CapabilityQuery, ModelCapabilities } from './model-abilities.ts';

/** Who uses no model server loads nothing of it. */
const engines: Readonly<
  Record<string, () => Promise<(question: CapabilityQuery) => Promise<ModelCapabilities>>>
> = {
  ollama: async () => (await import('./ollama-abilities.ts')).queryOllamaCapabilities,
  openai: () =>
    withPackage(
      'openai@7',
      '--engine openai',
      async () => (await import('./openai-abilities.ts')).queryOpenaiCapabilities,
    ),
  anthropic: () =>
    withPackage(
      '@anthropic-ai/sdk@1',
      '--engine anthropic',
      async () => (await import('./anthropic-abilities.ts')).queryAnthropicCapabilities,
    ),
};

/**
 * What a model can do, by the word of its server; undefined for engines without one, and for those of users.
 *
 * @throws MeshError `engine` where there is no server, `usage` and `config` for an address or a key that cannot be used
 */
export async function queryModelCapabilities(
  engine: string,
  { host, model, environment = process.env }: Partial<CapabilityQuery>,
): Promise<ModelCapabilities | undefined> {
  const kind = findServerKind(engine);
  const load = engines[engine];
  if (kind === undefined || load === undefined) return undefined;
  return (await load())({ host, model: model ?? kind.defaultModel, environment });
}
