import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { createRegistry } from '@gaia-mesh/core/contracts/registry.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { ModelCapabilities } from './abilities/model-abilities.ts';
import type { Pace } from './http/retry.ts';
import type { Permits } from './permits.ts';
import { type Environment, requireKey } from './servers/server-key.ts';
import { findServerKind } from './servers/server-url.ts';

/** What an engine may be told; the embedded one needs none of it. */
export interface EngineOptions {
  readonly model?: string;
  /** Of the model server: a URL, or `host:port`. */
  readonly host?: string;
  /**
   * The engine's own (`max_retries`, `fallback_model`, `fallback_base_url`, `price`, `fallback_price`, `tool_calls`, `context`), and the model's, which
   * go to the server as they are: `seed`, `temperature`, `num_ctx`, `max_tokens`, …
   */
  readonly options?: Readonly<Record<string, JsonValue>>;
  /** For one request to the server, from asking to the end of its reply. */
  readonly timeoutMs?: number;
  /** From one piece of a reply that has begun to the next; two minutes without it. */
  readonly idleMs?: number;
  /** What the server says of its model; undefined where it says nothing. Without it, it is not asked. */
  readonly askAbilities?: () => Promise<ModelCapabilities | undefined>;
  /** The text of the prompt of that name. */
  readonly prompts: (name: string) => string;
  /** Keys and addresses of servers; without it the process's. */
  readonly environment?: Environment;
  /** Who may ask a server when; without it at most four requests of this process at once. */
  readonly permits?: Permits;
  /** Clock and chance of retries; without it the real ones. */
  readonly pace?: Pace;
}

// Who uses no model server loads no client for one.
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

/** Makes an engine of the user's known by its name. */
export const addEngine = engines.add;

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function loadEngine(name: string, options: EngineOptions): Promise<Engine> {
  return (await engines.load(name))(options);
}

/** What the process of an agent must be allowed that thinks with an engine; what one of the user's reads is not known. */
export function describeEngineNeeds(name: string): {
  network: boolean;
  environment: readonly string[] | 'all';
} {
  if (name === 'extractive' || name === 'recorded') return { network: false, environment: [] };
  return { network: true, environment: findServerKind(name)?.variables ?? 'all' };
}

/**
 * Whether the addresses of the servers that an engine will ask are such that they can be asked, and may have its key. Loads no client.
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
    const url = kind.urlOf(given, environment);
    kind.key?.of(url, environment);
  }
}

/**
 * Whether an engine has the key that its server will ask for: to be told before a run, not in the middle of it (RA-50). Loads
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
  const url = kind.urlOf(host, environment);
  requireKey(url, kind.key.variable, kind.key.of(url, environment));
}
