import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { createRegistry } from '@gaia-mesh/core/contracts/registry.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { embeddedOptions } from './embedded/settings.ts';
import type { EngineOptions } from './engine-options.ts';
import { requireKey } from './servers/server-key.ts';
import { findServerKind } from './servers/server-url.ts';

// Processes that use no model server load no client for one.
const engines = createRegistry<(options: EngineOptions) => Engine>('engine', {
  extractive: async () => (await import('./extractive.ts')).createExtractiveEngine,
  ollama: async () => (await import('./servers/ollama.ts')).createOllamaEngine,
  openai: () =>
    withPackage(
      'openai@7',
      '--engine openai',
      async () => (await import('./servers/openai.ts')).createOpenaiEngine,
    ),
  anthropic: () =>
    withPackage(
      '@anthropic-ai/sdk@1',
      '--engine anthropic',
      async () => (await import('./servers/anthropic.ts')).createAnthropicEngine,
    ),
  recorded: async () => (await import('./recorded.ts')).createRecordedEngine,
});

export const engineNames = engines.names;

/** Registers a user's engine by its name. */
export const addEngine = engines.add;

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function loadEngine(name: string, options: EngineOptions): Promise<Engine> {
  return (await engines.load(name))(options);
}

/**
 * Returns the permissions of an agent's process that uses an engine, and the options that it takes; those of a user's
 * engine are not known, and options of models go to their server.
 */
export function describeEngineNeeds(name: string): {
  network: boolean;
  environment: readonly string[] | 'all';
  options: readonly string[] | 'all';
} {
  if (name === 'extractive') return { network: false, environment: [], options: embeddedOptions };
  if (name === 'recorded') return { network: false, environment: [], options: ['replies'] };
  return { network: true, environment: findServerKind(name)?.variables ?? 'all', options: 'all' };
}

/**
 * Checks that the servers of an engine have valid URLs and may get its key. Loads no client.
 *
 * @throws MeshError `usage`, `config`
 */
export function checkServers(
  name: string,
  { host, options = {}, environment = process.env }: Pick<EngineOptions, 'host' | 'options' | 'environment'>,
): void {
  const kind = findServerKind(name);
  if (kind === undefined) return;
  const { fallback_base_url: fallback } = options;
  for (const given of [host, ...(typeof fallback === 'string' ? [fallback] : [])]) {
    const url = kind.resolveUrl(given, environment);
    kind.key?.find(url, environment);
  }
}

/**
 * Checks that an engine has the key that its server will ask for, so that a missing one is reported before the run (RA-50). Loads
 * no client.
 *
 * @throws MeshError `usage`, with the variable to set
 */
export function checkKey(
  name: string,
  { host, environment = process.env }: Pick<EngineOptions, 'host' | 'environment'>,
): void {
  const kind = findServerKind(name);
  if (kind?.key === undefined) return;
  const url = kind.resolveUrl(host, environment);
  requireKey(url, kind.key.variable, kind.key.find(url, environment));
}
