import { withPackage } from '../../../core/system/optional-package.ts';
import type { Environment } from '../servers/server-key.ts';
import type { ModelAbilities } from './model-abilities.ts';

export interface AbilityQuestion {
  readonly host: string | undefined;
  readonly model: string;
  readonly environment: Environment;
}

type AskAbilities = (question: AbilityQuestion) => Promise<ModelAbilities>;

/** Who uses no model server loads nothing of it. */
const engines: Readonly<
  Record<string, { readonly model: string; readonly load: () => Promise<AskAbilities> }>
> = {
  ollama: {
    model: 'gemma-7b-it',
    load: async () => (await import('./ollama-abilities.ts')).ollamaAbilities,
  },
  openai: {
    model: 'gpt-4o',
    load: () =>
      withPackage(
        'openai@7',
        '--engine openai',
        async () => (await import('./openai-abilities.ts')).openaiAbilities,
      ),
  },
  anthropic: {
    model: 'claude-sonnet-4-6',
    load: () =>
      withPackage(
        '@anthropic-ai/sdk@1',
        '--engine anthropic',
        async () => (await import('./anthropic-abilities.ts')).anthropicAbilities,
      ),
  },
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
  const known = Object.hasOwn(engines, engine) ? engines[engine] : undefined;
  if (known === undefined) return undefined;
  return (await known.load())({ host, model: model ?? known.model, environment });
}
