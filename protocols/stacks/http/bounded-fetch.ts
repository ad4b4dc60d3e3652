import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { limitBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';

/** Maximum requests that wait for a server at once, so that a server cannot ask for answers without end. */
const MAX_WAITING_REQUESTS = 256;

/**
 * Creates a `fetch` for a library that talks to an untrusted server: it sends requests to the origin of
 * `server` alone, follows no redirect, and reads at most `most` bytes of an answer. With `redirect: 'manual'` the
 * caller gets a redirect as the answer.
 */
export function createBoundedFetch(server: string, most: number): typeof fetch {
  let waiting = 0;
  return async (input, init) => {
    requireOrigin(server, input);
    const redirect = init?.redirect === 'manual' ? 'manual' : 'error';
    if (waiting === MAX_WAITING_REQUESTS)
      throw new MeshError('limit', `HTTP: more than ${MAX_WAITING_REQUESTS} requests wait for ${server}`);
    waiting += 1;
    const response = await fetch(input, { ...init, redirect }).finally(() => {
      waiting -= 1;
    });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const bounded = new Response(ReadableStream.from(limitBody(response.body, most)), {
      status,
      statusText,
      headers,
    });
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

/** Yields the bytes of a stream. @throws MeshError after more than `most` of them */
export function limitBody(body: AsyncIterable<Uint8Array>, most: number): AsyncIterable<Uint8Array> {
  return limitBytes(body, most, () => new MeshError('limit', `HTTP answer: expected at most ${most} bytes`));
}
