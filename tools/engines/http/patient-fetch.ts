import http from 'node:http';
import https from 'node:https';

/** Answers without a body (RFC 9110, section 6.4.1). */
const WITHOUT_BODY = [204, 205, 304];

/**
 * `fetch` without a limit of its own. Node's gives up a server that is silent for 300 s, and a model on a CPU may read a long prompt for
 * longer than that. Whoever asks sets the limits, by `signal`. It follows no redirect.
 */
export const fetchPatiently: typeof globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const body = Buffer.from(await request.arrayBuffer());
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const url = new URL(request.url);
  const { request: send } = url.protocol === 'https:' ? https : http;
  const { method } = request;
  // The request's own signal follows the caller's only until the garbage collector takes the request.
  const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
  // A connection of its own: one that is kept may be closed by the server just when it is used again.
  const headers = { ...Object.fromEntries(request.headers), 'content-length': String(body.length) };
  const outgoing = send(
    url,
    { method, headers, agent: false, ...(signal === undefined ? {} : { signal }) },
    (incoming) => {
      // Whoever reads the body hears of it; when nobody does any more, nobody needs to.
      incoming.on('error', () => undefined);
      const { statusCode = 500, statusMessage = '' } = incoming;
      const received = new Headers();
      for (const [name, values] of Object.entries(incoming.headersDistinct)) {
        for (const value of values ?? []) received.append(name, value);
      }
      if (WITHOUT_BODY.includes(statusCode)) incoming.resume();
      const content = WITHOUT_BODY.includes(statusCode) ? null : ReadableStream.from(incoming);
      resolve(new Response(content, { status: statusCode, statusText: statusMessage, headers: received }));
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
};
