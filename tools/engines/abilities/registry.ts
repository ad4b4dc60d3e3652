import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { findServerKind } from '../servers/server-url.ts';
import type { CapabilityQuery, ModelCapabilities } from './model-abilities.ts';

/** Loaders by engine, so that processes without a model server load nothing of it. */
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
 * Asks a server what its model can do; undefined for engines without a server, and for users' own engines.
 *
 * @throws MeshError `engine` if there is no server, `usage` and `config` for a URL or a key that cannot be used
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
