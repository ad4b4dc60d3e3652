import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';

/** Redirects of one request. A file's storage is two or three hops from its address. */
const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** The headers that another server than the named one gets: no key is among them, by whatever name a service has it. */
const PLAIN_HEADERS = ['accept', 'user-agent'];

/**
 * A `fetch` for services that the user named. It follows redirects of a GET alone: what a request has in its body is for the named
 * server. Keys go to the origin of that server and nowhere else, and a redirect from https leads to https.
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
        `${at.origin} redirects a ${first.method} to ${to}, which is not followed: name the right address`,
      );
    }
    at = target;
    const headers = at.origin === from.origin ? first.headers : plain;
    response = await fetch(at, { headers, signal, redirect: 'manual' });
  }
};
