import { MeshError } from '../contracts/errors.ts';

/**
 * Decides whether a request may go to a URL. It receives the parsed URL to which the request connects, since a
 * text may be parsed in more than one way.
 */
export type UrlPolicy = (url: URL) => boolean;

/**
 * Names of this machine as URLs contain them. A policy compares whole names: `localhost.example.com` is
 * another host.
 */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const MAX_URL_CHARACTERS = 8192;
/** A scheme, both slashes, and a host without a user before it. */
const WEB_URL = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;
/**
 * White space, control characters and backslashes: some parsers drop or convert them, so that two parsers
 * read two hosts.
 */
const AMBIGUOUS = /[\p{Cc}\p{Z}\\]/u;

/**
 * Returns the URL of `path` below `base` for a request. The origin is that of `base`, and the path is sent as
 * it stands: `//host/x` is a path of this server here, but another host for `new URL(path, base)`.
 *
 * @param path is empty, or begins with a slash; a query may follow
 * @throws MeshError `config` for a path that leaves the base or that the URL standard reads in another way,
 * such as one with dot segments
 */
export function joinUrl(base: string | URL, path: string): URL {
  const { origin, pathname, search } = new URL(base);
  const whole = path === '' ? pathname : `${pathname.replace(/\/$/, '')}${path}`;
  const url = URL.parse(`${origin}${whole}`);
  const isPath = search === '' && (path === '' || path.startsWith('/'));
  if (isPath && url?.origin === origin && `${url.pathname}${url.search}` === whole) return url;
  const came = `${JSON.stringify(path.slice(0, 200))} below ${origin}${`${pathname}${search}`.slice(0, 200)}`;
  throw new MeshError('config', `a request: expected a path of the server, came ${came}`);
}

/**
 * Parses a URL from a foreign source, such as an interface in an agent card or a webhook.
 *
 * @returns undefined for one that is not http or https, names a user, or could be read in more than one way
 */
export function parseForeignUrl(text: string): URL | undefined {
  if (text.length > MAX_URL_CHARACTERS || !WEB_URL.test(text) || AMBIGUOUS.test(text)) return undefined;
  return URL.parse(text) ?? undefined;
}

/**
 * Checks that a request of a library goes to the server that the library was given.
 *
 * @throws MeshError `config` for a request to another origin
 */
export function requireOrigin(server: string | URL, request: string | URL | Request): void {
  const url = new URL(request instanceof Request ? request.url : request);
  const { origin } = new URL(server);
  if (url.origin !== origin)
    throw new MeshError('config', `a request: expected one to ${origin}, came one to ${url.origin}`);
}
