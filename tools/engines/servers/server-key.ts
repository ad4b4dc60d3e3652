import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The makers' own servers, which require a key; compatible servers elsewhere may not. */
const MAKERS = {
  OPENAI_API_KEY: 'https://api.openai.com',
  ANTHROPIC_API_KEY: 'https://api.anthropic.com',
} as const;
export type KeyVariable = keyof typeof MAKERS;

/** The variable with further servers that the user named, besides the makers' own: URLs separated by commas. */
export const KEY_HOSTS = 'GAIA_MESH_KEY_HOSTS';

/** A placeholder for libraries that insist on a key, for servers that need none. */
export const NO_KEY = 'none';

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

/** Allows keys to go to `host`, which the user named on the command line, also from the agents of this process. */
export function allowKeyHost(host: string): void {
  process.env[KEY_HOSTS] = [process.env[KEY_HOSTS], host].filter(Boolean).join(',');
}

/**
 * Returns the key for the server at `url`, if there is one. It goes to its maker, to the server of the environment's own variable (`named`),
 * and to servers that the user named on the command line: a team file from elsewhere cannot send it anywhere.
 *
 * @throws MeshError `usage`, without the key in it, for any other server
 */
export function findServerKey(
  url: string,
  variable: KeyVariable,
  named: string,
  environment: Environment,
): string | undefined {
  const key = readKey(environment, variable);
  const hosts = [MAKERS[variable], named, ...(environment[KEY_HOSTS] ?? '').split(',')];
  const { origin } = new URL(url);
  if (key === undefined || hosts.some((host) => parseOrigin(host) === origin)) return key;
  throw new MeshError(
    'usage',
    `${origin} would get ${variable}, and only a team file names it: if it is to have the key, name it with --base-url ${url} or in ` +
      `${KEY_HOSTS}; else unset ${variable}`,
  );
}

function parseOrigin(host: string): string | undefined {
  const text = host.trim().replace('0.0.0.0', '127.0.0.1');
  return URL.parse(text.includes('://') ? text : `http://${text}`)?.origin;
}

/** @throws MeshError `usage` if the server at `url` requires a key and there is none */
export function requireKey(url: string, variable: KeyVariable, key: string | undefined): void {
  if (key !== undefined || new URL(url).origin !== MAKERS[variable]) return;
  throw new MeshError(
    'usage',
    `${url} needs a key: set ${variable} in the environment or in .env, or name another server with --base-url`,
  );
}
