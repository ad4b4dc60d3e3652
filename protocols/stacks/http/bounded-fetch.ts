import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';

/**
 * Makes a `fetch` for a library that talks to a server which is not trusted: it asks the origin of `server` alone, follows no redirect,
 * and reads no more than `most` bytes of an answer.
 */
export function createBoundedFetch(server: string, most: number): typeof fetch {
  return async (input, init) => {
    requireOrigin(server, input);
    const response = await fetch(input, { ...init, redirect: 'error' });
    if (response.body === null) return response;
    let length = 0;
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.length;
        if (length > most)
          controller.error(new MeshError('limit', `an answer of HTTP: expected at most ${most} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(counting), { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };
}

/** The bytes of a stream, up to `most` of them. */
export async function* limitBody(
  body: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) throw new MeshError('limit', `an answer of HTTP: expected at most ${most} bytes`);
    yield chunk;
  }
}
