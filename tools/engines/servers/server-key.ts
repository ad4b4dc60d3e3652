import { MeshError } from '../../../core/contracts/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The makers' own servers take nobody without a key; servers of the same format elsewhere may. */
const KEYED_SERVERS = ['https://api.openai.com', 'https://api.anthropic.com'];

/** Stands where a library insists on a key, and a server on none. */
export const NO_KEY = 'none';

/**
 * The key in a variable of the environment, if there is one.
 *
 * @throws MeshError `usage`, without the key in it, when it can be none
 */
export function keyIn(environment: Environment, variable: string): string | undefined {
  const key = environment[variable]?.trim() ?? '';
  if (key === '') return undefined;
  // Anything else cannot stand in a header, and the error that says so would repeat it.
  if (/^[\x21-\x7e]{1,1000}$/.test(key)) return key;
  throw new MeshError('usage', `${variable} is no key: it must be up to 1000 visible ASCII characters`);
}

/** @throws MeshError `usage` when the server at `url` takes nobody without a key, and there is none */
export function requireKey(url: string, variable: string, key: string | undefined): void {
  if (key !== undefined || !KEYED_SERVERS.includes(new URL(url).origin)) return;
  throw new MeshError(
    'usage',
    `${url} needs a key: set ${variable} in the environment or in .env, or name another server with --base-url`,
  );
}
