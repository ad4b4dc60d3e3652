import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createRegistry } from '@gaia-mesh/core/contracts/registry.ts';
import type { ModelCapabilities } from './capabilities.ts';
import type { EngineOptions } from './engine-options.ts';
import { embeddedOptions } from './engine-settings.ts';
import { findServerKey, KEY_HOSTS, requireKey, resolveServerUrl, type ServerKind } from './server-kind.ts';

/** The facts that servers with OpenAI's `/chat/completions` share. */
const OPENAI_COMPATIBLE = {
  label: 'OpenAI-compatible',
  example: 'http://127.0.0.1:8080/v1',
  completeUrl: (url: string) => (new URL(url).pathname === '/' ? `${url}/v1` : url),
  load: async () => (await import('./openai.ts')).openaiFormat,
} as const;

/**
 * All engines. A server with OpenAI's format is an entry here and nothing else: `list`, `doctor`, `.env`, the removal of keys from outputs
 * and the tests read this table.
 */
const ENGINES: Readonly<Record<string, ServerKind | LocalEngine>> = {
  extractive: {
    summary: 'embedded, the default: reads texts and answers from them alone; no model, no network',
    options: embeddedOptions,
    load: async () => (await import('./extractive.ts')).createExtractiveEngine,
  },
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
  llama: {
    ...OPENAI_COMPATIBLE,
    summary: 'a model from a GGUF file, run here (--model FILE; see gaia-mesh model)',
    label: 'llama.cpp',
    urlVariable: 'GAIA_MESH_LLAMA_URL',
    url: 'http://127.0.0.1:8080/v1',
    key: { variable: 'GAIA_MESH_LLAMA_TOKEN', shape: /llama-[0-9a-f]{48}/ },
    defaultModel: '',
    isFree: true,
    loadLauncher: () => import('./llama/launch-model.ts'),
    load: async () => (await import('./openai.ts')).llamaFormat,
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
const engines = createRegistry<EngineMaker>(
  'engine',
  Object.fromEntries(
    Object.entries(ENGINES).map(([name, row]) => [
      name,
      isServer(row) ? () => loadServerEngine(name, row) : row.load,
    ]),
  ),
);

async function loadServerEngine(name: string, kind: ServerKind): Promise<EngineMaker> {
  const [{ createModelEngine }, format] = await Promise.all([import('./model-engine.ts'), kind.load()]);
  return (options) => createModelEngine(name, kind, format, options);
}

function isServer(row: ServerKind | LocalEngine): row is ServerKind {
  return 'url' in row;
}

export const engineNames = engines.names;

/** The variables in which users keep keys of model servers, and the shapes of such keys. */
export const serverKeys = engineNames.flatMap((name) => {
  const server = findServer(name);
  return server?.key === undefined || server.loadLauncher !== undefined ? [] : [server.key];
});

/** Registers a user's engine by its name. */
export const addEngine = engines.add;

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function loadEngine(name: string, options: EngineOptions): Promise<Engine> {
  await startOwnServer(name, options);
  return (await engines.load(name))(options);
}

/** Returns undefined for users' own engines. */
function findRow(name: string): ServerKind | LocalEngine | undefined {
  return Object.hasOwn(ENGINES, name) ? ENGINES[name] : undefined;
}

function findServer(name: string): ServerKind | undefined {
  const row = findRow(name);
  return row !== undefined && isServer(row) ? row : undefined;
}

interface EngineFacts {
  /** The engine in a line, with the variables of its server; empty for users' own engines. */
  readonly summary: string;
  /** True if an agent's process needs the network for it. */
  readonly network: boolean;
  /** The variables that an agent's process needs for it. */
  readonly environment: readonly string[] | 'all';
  /** The options that it takes. */
  readonly options: readonly string[] | 'all';
}

/** Describes an engine. The needs of a user's own engine are not known, and options of models go to their server. */
export function describeEngine(name: string): EngineFacts {
  const row = findRow(name);
  if (row === undefined) return { summary: '', network: true, environment: 'all', options: 'all' };
  const { summary } = row;
  if (!isServer(row)) return { summary, network: false, environment: [], options: row.options };
  const { urlVariable, key, loadLauncher } = row;
  const variables = `--host, ${urlVariable}${key === undefined ? '' : `; ${key.variable}`}`;
  return {
    summary: loadLauncher === undefined ? `${summary} (${variables})` : summary,
    network: true,
    environment: key === undefined ? [urlVariable] : [key.variable, urlVariable, KEY_HOSTS],
    options: 'all',
  };
}

type Place = Pick<EngineOptions, 'host' | 'environment'>;

/**
 * Checks that the servers of an engine have valid URLs, and the keys that they ask for and may get, so that a missing one is reported
 * before the run (RA-50). Loads no client.
 *
 * @throws MeshError `usage`, with the variable to set; `config`
 */
export function checkServer(
  name: string,
  { host, options = {}, environment = process.env }: Place & Pick<EngineOptions, 'options'>,
): void {
  const server = findServer(name);
  if (server === undefined) return;
  const { fallback_base_url: fallback } = options;
  if (server.loadLauncher !== undefined) {
    if ((host ?? fallback) === undefined) return;
    throw new MeshError(
      'usage',
      `the engine ${name} runs the model here and asks no server at ${String(host ?? fallback)}: leave that out, or ask a server with --engine openai --base-url`,
    );
  }
  for (const given of [host, ...(typeof fallback === 'string' ? [fallback] : [])]) {
    const url = resolveServerUrl(server, given, environment);
    requireKey(server, url, findServerKey(server, url, environment));
  }
}

/**
 * Starts the server of an engine that has one of its own for each run, and has it load the model; does nothing for others.
 *
 * @throws MeshError `usage`, `config` and `engine` for a model that cannot be run
 */
export async function startEngineServer(
  name: string,
  { model, options: { context, fallback_model: fallback } = {} }: Pick<EngineOptions, 'model' | 'options'>,
): Promise<void> {
  const launcher = await findServer(name)?.loadLauncher?.();
  if (launcher === undefined) return;
  for (const each of typeof fallback === 'string' ? [model, fallback] : [model])
    await launcher.launchModel(each, typeof context === 'number' ? context : undefined);
}

/** Starts the server of an engine for a process that no launcher told where one is: `doctor`, or an agent that a user started. */
async function startOwnServer(
  name: string,
  options: Pick<EngineOptions, 'model' | 'options'>,
): Promise<void> {
  const server = findServer(name);
  if (server?.loadLauncher !== undefined && process.env[server.urlVariable] === undefined)
    await startEngineServer(name, options);
}

/**
 * Returns what an engine's answers depend on besides the name of its model: the URL of its server, or the model's file.
 *
 * @throws MeshError `usage`, `config` for a URL that cannot be used
 */
export async function identifyModelSource(
  name: string,
  { host, model, environment = process.env }: Place & Pick<EngineOptions, 'model'>,
): Promise<string | undefined> {
  const server = findServer(name);
  if (server === undefined) return undefined;
  const launcher = await server.loadLauncher?.();
  return launcher === undefined
    ? resolveServerUrl(server, host, environment)
    : launcher.identifyModel(model ?? '');
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
  await startOwnServer(engine, { model });
  const [{ queryServer }, format] = await Promise.all([
    import('./requests/model-endpoint.ts'),
    server.load(),
  ]);
  return queryServer(server, format, { host, model: model ?? server.defaultModel, environment });
}
