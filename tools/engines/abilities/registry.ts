import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { Environment } from '../servers/server-key.ts';
import { serverKind } from '../servers/server-url.ts';
import type { ModelAbilities } from './model-abilities.ts';

export interface AbilityQuestion {
  readonly host: string | undefined;
  readonly model: string;
  readonly environment: Environment;
}

/** Who uses no model server loads nothing of it. */
const engines: Readonly<
  Record<string, () => Promise<(question: AbilityQuestion) => Promise<ModelAbilities>>>
> = {
  ollama: async () => (await import('./ollama-abilities.ts')).ollamaAbilities,
  openai: () =>
    withPackage(
      'openai@7',
      '--engine openai',
      async () => (await import('./openai-abilities.ts')).openaiAbilities,
    ),
  anthropic: () =>
    withPackage(
      '@anthropic-ai/sdk@1',
      '--engine anthropic',
      async () => (await import('./anthropic-abilities.ts')).anthropicAbilities,
    ),
};

/**
 * What a model can do, by the word of its server; undefined for engines without one, and for those of users.
 *
 * @throws MeshError `engine` where there is no server, `usage` and `config` for an address or a key that cannot be used
 */
export async function modelAbilities(
  engine: string,
  { host, model, environment = process.env }: Partial<AbilityQuestion>,
): Promise<ModelAbilities | undefined> {
  const kind = serverKind(engine);
  const load = engines[engine];
  if (kind === undefined || load === undefined) return undefined;
  return (await load())({ host, model: model ?? kind.defaultModel, environment });
}
