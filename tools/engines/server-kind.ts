import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { explainBlockedPort } from '../blocked-port.ts';
import type { ModelFormat } from './model-format.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface ModelLauncher {
  /** Loads a model into the server, with a context of this many tokens. */
  launchModel(model: string | undefined, context?: number): Promise<unknown>;
  /** Returns what distinguishes a model from others of its name. */
  identifyModel(model: string): string | undefined;
}

/** The facts about one kind of model server, which are known before its format is loaded. */
export interface ServerKind {
  /** The engine in a line, for `list engines`. */
  readonly summary: string;
  /** The name before "server" in messages: `Ollama`. */
  readonly label: string;
  /** The default URL. A server that requires a key is its maker's own: compatible servers elsewhere may need none. */
  readonly url: string;
  /** The environment variable that replaces the URL. */
  readonly urlVariable: string;
  /** A host as users write it, for messages; by default the URL. */
  readonly example?: string;
  /** The default port, unless a URL has a scheme. */
  readonly port?: string;
  /** Completes a URL, since users write it with or without the version at its end. */
  readonly completeUrl?: (url: string) => string;
  readonly key?: {
    readonly variable: string;
    /** Matches keys wherever they stand, so that no output contains one. */
    readonly shape: RegExp;
  };
  readonly defaultModel: string;
  /** True for models on the user's own machine, which cost nothing. */
  readonly isFree?: true;
  /** Loads what starts the server, if it is a process of the run's own; its address and key are then in the variables above. */
  readonly loadLauncher?: () => Promise<ModelLauncher>;
  /** Loads the format, so that processes without a model server load nothing of it. */
  readonly load: () => Promise<ModelFormat>;
}

/**
 * Returns the URL of the server that `host` names: a URL, `host` or `host:port`; without a slash at its end. The default is the
 * server of the kind's variable, else the kind's own.
 *
 * @throws MeshError `usage` for an invalid one; `config` for a port that no request may go to
 */
export function resolveServerUrl(
  { label, url, urlVariable, example = url, port, completeUrl = (whole) => whole }: ServerKind,
  host: string | undefined,
  environment: Environment,
): string {
  return completeUrl(parseServerUrl(host ?? (environment[urlVariable] || url), { label, example, port }));
}

function parseServerUrl(
  host: string,
  { label, example, port }: Pick<ServerKind, 'label' | 'example'> & { readonly port: string | undefined },
): string {
  const hasScheme = host.includes('://');
  const url = URL.parse(hasScheme ? host : `http://${host.startsWith(':') ? '127.0.0.1' : ''}${host}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new MeshError(
      'usage',
      `the ${label} host must be like ${example} or a URL, not ${JSON.stringify(host)}`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new MeshError(
      'usage',
      `the ${label} host ${url.host} must be given without a password: it would be in every log`,
    );
  }
  const blocked = explainBlockedPort(url);
  if (blocked !== undefined) throw new MeshError('config', `the ${label} host: ${blocked}`);
  if (!hasScheme && url.port === '' && port !== undefined) url.port = port;
  // Servers listen on 0.0.0.0 and share this setting, but not every system can connect to it.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

/** The variable with further servers that the user named, besides the makers' own: URLs separated by commas. */
export const KEY_HOSTS = 'GAIA_MESH_KEY_HOSTS';

/** Allows keys to go to `host`, which the user named on the command line, also from the agents of this process. */
export function allowKeyHost(host: string): void {
  process.env[KEY_HOSTS] = [process.env[KEY_HOSTS], host].filter(Boolean).join(',');
}

/**
 * Returns the key for the server at `url`, if there is one. It goes to its maker, to the server of the environment's own variable,
 * and to servers that the user named on the command line: a team file from elsewhere cannot send it anywhere.
 *
 * @throws MeshError `usage`, without the key in it, for any other server
 */
export function findServerKey(kind: ServerKind, url: string, environment: Environment): string | undefined {
  if (kind.key === undefined) return undefined;
  const { variable } = kind.key;
  const key = readKey(environment, variable);
  const named = resolveServerUrl(kind, undefined, environment);
  const hosts = [kind.url, named, ...(environment[KEY_HOSTS] ?? '').split(',')];
  const { origin } = new URL(url);
  if (key === undefined || hosts.some((host) => parseOrigin(host) === origin)) return key;
  throw new MeshError(
    'usage',
    `${origin} would get ${variable}, and only a team file names it: if it is to have the key, name it with --base-url ${url} or in ` +
      `${KEY_HOSTS}; else unset ${variable}`,
  );
}

/**
 * Returns the key in an environment variable, if there is one.
 *
 * @throws MeshError `usage`, without the key in it, if it is malformed
 */
function readKey(environment: Environment, variable: string): string | undefined {
  const key = environment[variable]?.trim() ?? '';
  if (key === '') return undefined;
  // Other characters are invalid in a header, and the resulting error would repeat the key.
  if (/^[\x21-\x7e]{1,1000}$/.test(key)) return key;
  throw new MeshError(
    'usage',
    `${variable} is not a valid key: it must be up to 1000 visible ASCII characters`,
  );
}

function parseOrigin(host: string): string | undefined {
  const text = host.trim().replace('0.0.0.0', '127.0.0.1');
  return URL.parse(text.includes('://') ? text : `http://${text}`)?.origin;
}

/** @throws MeshError `usage` if the server at `url` requires a key and there is none */
export function requireKey(kind: ServerKind, url: string, key: string | undefined): void {
  if (kind.key === undefined || key !== undefined || new URL(url).origin !== new URL(kind.url).origin) return;
  throw new MeshError(
    'usage',
    `${url} needs a key: set ${kind.key.variable} in the environment or in .env, or name another server with --base-url`,
  );
}
