import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';

/** Maximum requests that wait for a server at once. A server that asks for answers without end gets no more. */
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
    let length = 0;
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.length;
        if (length > most)
          controller.error(new MeshError('limit', `HTTP answer: expected at most ${most} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(counting), { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

/** Yields the bytes of a stream. @throws MeshError after more than `most` of them */
export async function* limitBody(
  body: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new MeshError('limit', `HTTP answer: expected at most ${most} bytes`);
    yield chunk;
  }
}
