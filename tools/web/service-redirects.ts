import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';

/** Maximum redirects of one request. A file's storage is two or three hops from its URL. */
const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** The headers that a server other than the named one gets, so that a key is never sent on, whatever its header's name. */
const PLAIN_HEADERS = ['accept', 'user-agent'];

/**
 * A `fetch` for services that the user named. It follows redirects of GET requests only: a request's body is meant for the named
 * server. Keys go to that server's origin and nowhere else, and a redirect never leads from https to http.
 *
 * @throws MeshError `tool` for a redirect that is not followed
 */
export const fetchService: typeof globalThis.fetch = async (input, init) => {
  const first = new Request(input, { ...init, redirect: 'manual' });
  // The request's own signal follows the caller's only until the garbage collector takes the request.
  const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
  const from = new URL(first.url);
  const plain = new Headers(
    PLAIN_HEADERS.flatMap((name) => {
      const value = first.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
  );
  let response = await fetch(first, { signal });
  let at = from;
  for (let redirects = 0; ; redirects++) {
    const location = REDIRECTS.includes(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const target = parseForeignUrl(URL.parse(location, at.href)?.href ?? '');
    const isLess = at.protocol === 'https:' && target?.protocol === 'http:';
    if (first.method !== 'GET' || target === undefined || isLess || redirects === MAX_REDIRECTS) {
      const to = target?.origin ?? JSON.stringify(location.slice(0, 200));
      throw new MeshError(
        'tool',
        `${at.origin} redirects a ${first.method} to ${to}, which is not followed: set the right URL`,
      );
    }
    at = target;
    const headers = at.origin === from.origin ? first.headers : plain;
    response = await fetch(at, { headers, signal, redirect: 'manual' });
  }
};
