import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { createRegistry } from '@gaia-mesh/core/contracts/registry.ts';
import type { ModelCapabilities } from './capabilities.ts';
import { embeddedOptions } from './embedded/settings.ts';
import type { EngineOptions } from './engine-options.ts';
import { findServerKey, KEY_HOSTS, requireKey, resolveServerUrl, type ServerKind } from './server-kind.ts';

/** The facts that servers with OpenAI's `/chat/completions` share. */
const OPENAI_COMPATIBLE = {
  label: 'OpenAI-compatible',
  example: 'http://127.0.0.1:8080/v1',
  completeUrl: (url: string) => (new URL(url).pathname === '/' ? `${url}/v1` : url),
  load: async () => (await import('./openai.ts')).openaiFormat,
} as const;

/**
 * The engines that ask a model server. A server with OpenAI's format is an entry here and nothing else: `list`, `doctor`, `.env`, the
 * removal of keys from outputs and the tests read this table.
 */
const SERVERS: Readonly<Record<string, ServerKind>> = {
  ollama: {
    summary: 'a model that Ollama serves',
    label: 'Ollama',
    url: 'http://127.0.0.1:11434',
    urlVariable: 'OLLAMA_HOST',
    example: '127.0.0.1:11434',
    port: '11434',
    defaultModel: 'gemma-7b-it',
    isFree: true,
    load: async () => (await import('./ollama.ts')).ollamaFormat,
  },
  openai: {
    ...OPENAI_COMPATIBLE,
    summary: 'a model on any OpenAI-compatible server',
    url: 'https://api.openai.com/v1',
    urlVariable: 'OPENAI_BASE_URL',
    key: { variable: 'OPENAI_API_KEY', shape: /sk-[\w-]{16,}/ },
    defaultModel: 'gpt-4o',
  },
  anthropic: {
    summary: 'a model of Anthropic’s Messages API',
    label: 'Anthropic',
    url: 'https://api.anthropic.com',
    urlVariable: 'ANTHROPIC_BASE_URL',
    completeUrl: (url) => url.replace(/\/v1$/, ''),
    key: { variable: 'ANTHROPIC_API_KEY', shape: /sk-ant-[\w-]{16,}/ },
    defaultModel: 'claude-sonnet-4-6',
    load: async () => (await import('./anthropic.ts')).anthropicFormat,
  },
};

/** The engines without a server. */
const LOCAL: Readonly<Record<string, LocalEngine>> = {
  extractive: {
    summary: 'embedded, the default: reads texts and answers from them alone; no model, no network',
    options: embeddedOptions,
    load: async () => (await import('./extractive.ts')).createExtractiveEngine,
  },
  recorded: {
    summary: 'what a model replied in an earlier run to the same requests (--replies run_artifacts.tar.gz)',
    options: ['replies'],
    load: async () => (await import('./recorded.ts')).createRecordedEngine,
  },
};

interface LocalEngine {
  readonly summary: string;
  /** Names of the options that it takes. */
  readonly options: readonly string[];
  readonly load: () => Promise<EngineMaker>;
}

type EngineMaker = (options: EngineOptions) => Engine;

// Processes that use no model server load no client for one.
const engines = createRegistry<EngineMaker>('engine', {
  ...mapValues(LOCAL, ({ load }) => load),
  ...mapValues(SERVERS, (kind, name) => async () => {
    const [{ createModelEngine }, format] = await Promise.all([import('./model-engine.ts'), kind.load()]);
    return (options) => createModelEngine(name, kind, format, options);
  }),
});

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

export const engineNames = engines.names;

/** The engines that ask a model server. */
export const serverNames: readonly string[] = Object.keys(SERVERS);

/** The variables that hold the keys of model servers, and the shapes of such keys. */
export const serverKeys = Object.values(SERVERS).flatMap(({ key }) => key ?? []);

/** Registers a user's engine by its name. */
export const addEngine = engines.add;

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function loadEngine(name: string, options: EngineOptions): Promise<Engine> {
  return (await engines.load(name))(options);
}

/** Returns undefined for engines without a server, and for users' own engines. */
function findServer(engine: string): ServerKind | undefined {
  return Object.hasOwn(SERVERS, engine) ? SERVERS[engine] : undefined;
}

function findLocal(engine: string): LocalEngine | undefined {
  return Object.hasOwn(LOCAL, engine) ? LOCAL[engine] : undefined;
}

/** Describes an engine in a line, with the variables of its server; empty for users' own engines. */
export function describeEngine(name: string): string {
  const server = findServer(name);
  if (server === undefined) return findLocal(name)?.summary ?? '';
  const { summary, urlVariable, key } = server;
  return `${summary} (--host, ${urlVariable}${key === undefined ? '' : `; ${key.variable}`})`;
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
  const local = findLocal(name);
  if (local !== undefined) return { network: false, environment: [], options: local.options };
  const server = findServer(name);
  if (server === undefined) return { network: true, environment: 'all', options: 'all' };
  const { urlVariable, key } = server;
  const environment = key === undefined ? [urlVariable] : [key.variable, urlVariable, KEY_HOSTS];
  return { network: true, environment, options: 'all' };
}

type Place = Pick<EngineOptions, 'host' | 'environment'>;

/**
 * Returns the URL of an engine's server; undefined if it has none.
 *
 * @throws MeshError `usage`, `config`
 */
export function resolveEngineUrl(
  name: string,
  { host, environment = process.env }: Place,
): string | undefined {
  const server = findServer(name);
  return server === undefined ? undefined : resolveServerUrl(server, host, environment);
}

/**
 * Checks that the servers of an engine have valid URLs and may get its key. Loads no client.
 *
 * @throws MeshError `usage`, `config`
 */
export function checkServers(
  name: string,
  { host, options = {}, environment = process.env }: Place & Pick<EngineOptions, 'options'>,
): void {
  const server = findServer(name);
  if (server === undefined) return;
  const { fallback_base_url: fallback } = options;
  for (const given of [host, ...(typeof fallback === 'string' ? [fallback] : [])])
    findServerKey(server, resolveServerUrl(server, given, environment), environment);
}

/**
 * Checks that an engine has the key that its server will ask for, so that a missing one is reported before the run (RA-50). Loads
 * no client.
 *
 * @throws MeshError `usage`, with the variable to set
 */
export function checkKey(name: string, { host, environment = process.env }: Place): void {
  const server = findServer(name);
  if (server === undefined) return;
  const url = resolveServerUrl(server, host, environment);
  requireKey(server, url, findServerKey(server, url, environment));
}

/**
 * Asks a server what its model can do; undefined for engines without a server, and for users' own engines.
 *
 * @throws MeshError `engine` if there is no server, `usage` and `config` for a URL or a key that cannot be used
 */
export async function queryModelCapabilities(
  engine: string,
  { host, model, environment = process.env }: Place & Pick<EngineOptions, 'model'>,
): Promise<ModelCapabilities | undefined> {
  const server = findServer(engine);
  if (server === undefined) return undefined;
  const [{ queryServer }, format] = await Promise.all([
    import('./requests/model-endpoint.ts'),
    server.load(),
  ]);
  return queryServer(server, format, { host, model: model ?? server.defaultModel, environment });
}
