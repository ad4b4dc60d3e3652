import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { explainBlockedPort } from '../../blocked-port.ts';
import { type Environment, findServerKey, KEY_HOSTS, type KeyVariable } from './server-key.ts';

/** The format of a server's URL. */
interface ServerAddress {
  /** The name in "the … host must be like …": `Ollama`. */
  readonly name: string;
  readonly example: string;
  /** The default port, unless the URL has a scheme. */
  readonly port?: string;
}

/**
 * Returns the URL of the server that `host` names: a URL, `host` or `host:port`; without a slash at its end.
 *
 * @throws MeshError `usage` for an invalid one; `config` for a port that no request may go to
 */
function parseServerUrl(host: string, { name, example, port }: ServerAddress): string {
  const hasScheme = host.includes('://');
  const url = URL.parse(hasScheme ? host : `http://${host.startsWith(':') ? '127.0.0.1' : ''}${host}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new MeshError(
      'usage',
      `the ${name} host must be like ${example} or a URL, not ${JSON.stringify(host)}`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new MeshError(
      'usage',
      `the ${name} host ${url.host} must be given without a password: it would be in every log`,
    );
  }
  const blocked = explainBlockedPort(url);
  if (blocked !== undefined) throw new MeshError('config', `the ${name} host: ${blocked}`);
  if (!hasScheme && url.port === '' && port !== undefined) url.port = port;
  // Servers listen on 0.0.0.0 and share this setting, but not every system can connect to it.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

const OLLAMA_HOST = '127.0.0.1:11434';

/**
 * Returns the URL of the Ollama server that `host` names: a URL, `host` or `host:port`, as in `OLLAMA_HOST`, which is the default.
 *
 * @throws MeshError as {@link parseServerUrl}
 */
export function resolveOllamaUrl(host: string | undefined, environment: Environment): string {
  const given = host ?? (environment.OLLAMA_HOST || OLLAMA_HOST);
  return parseServerUrl(given, { name: 'Ollama', example: OLLAMA_HOST, port: '11434' });
}

/**
 * Returns the base URL of `/chat/completions`, with `/v1` if it has no path. `OPENAI_BASE_URL` is the default, else OpenAI itself.
 *
 * @throws MeshError as {@link parseServerUrl}
 */
export function resolveOpenaiUrl(host: string | undefined, environment: Environment): string {
  const given = host ?? (environment.OPENAI_BASE_URL || 'https://api.openai.com/v1');
  const url = parseServerUrl(given, { name: 'OpenAI-compatible', example: 'http://127.0.0.1:8080/v1' });
  return new URL(url).pathname === '/' ? `${url}/v1` : url;
}

/**
 * Returns the base URL of `/v1/messages`. `ANTHROPIC_BASE_URL` is the default, else Anthropic itself.
 *
 * @throws MeshError as {@link parseServerUrl}
 */
export function resolveAnthropicUrl(host: string | undefined, environment: Environment): string {
  const given = host ?? (environment.ANTHROPIC_BASE_URL || 'https://api.anthropic.com');
  return parseServerUrl(given, { name: 'Anthropic', example: 'https://api.anthropic.com' }).replace(
    /\/v1$/,
    '',
  );
}

/** Returns the key for the server at `url`. @throws MeshError `usage`: see {@link findServerKey} */
export function findOpenaiKey(url: string, environment: Environment): string | undefined {
  return findServerKey(url, 'OPENAI_API_KEY', resolveOpenaiUrl(undefined, environment), environment);
}

/** Returns the key for the server at `url`. @throws MeshError `usage`: see {@link findServerKey} */
export function findAnthropicKey(url: string, environment: Environment): string | undefined {
  return findServerKey(url, 'ANTHROPIC_API_KEY', resolveAnthropicUrl(undefined, environment), environment);
}

interface ServerKind {
  readonly defaultModel: string;
  readonly resolveUrl: (host: string | undefined, environment: Environment) => string;
  /** For kinds whose servers may require a key. */
  readonly key?: {
    readonly variable: KeyVariable;
    readonly find: (url: string, environment: Environment) => string | undefined;
  };
  /** All environment variables that it reads. */
  readonly variables: readonly string[];
}

/** The facts about each kind of server that are needed before its client is loaded, by the name of its engine. */
export const SERVER_KINDS = {
  ollama: { defaultModel: 'gemma-7b-it', resolveUrl: resolveOllamaUrl, variables: ['OLLAMA_HOST'] },
  openai: {
    defaultModel: 'gpt-4o',
    resolveUrl: resolveOpenaiUrl,
    key: { variable: 'OPENAI_API_KEY', find: findOpenaiKey },
    variables: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID', KEY_HOSTS],
  },
  anthropic: {
    defaultModel: 'claude-sonnet-4-6',
    resolveUrl: resolveAnthropicUrl,
    key: { variable: 'ANTHROPIC_API_KEY', find: findAnthropicKey },
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', KEY_HOSTS],
  },
} as const satisfies Readonly<Record<string, ServerKind>>;

/** Returns undefined for engines without a server, and for users' own engines. */
export function findServerKind(engine: string): ServerKind | undefined {
  const kinds: Readonly<Record<string, ServerKind>> = SERVER_KINDS;
  return Object.hasOwn(kinds, engine) ? kinds[engine] : undefined;
}
