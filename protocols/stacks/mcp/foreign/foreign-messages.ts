import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatForeignJson, keepForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { createBoundedFetch } from '../../http/bounded-fetch.ts';
import { readEventLines } from '../../http/event-stream.ts';

/** The member of a result that names what {@link readForeignMessage} could not keep of it. */
export const LOST = 'gaia-mesh/lost';

/** The code of the error in place of an answer that did not come. */
export const NO_ANSWER = -32097;

const MAX_REDIRECTS = 5;
/** Redirects after which a message is sent again as it was; 303 asks for another kind of request. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Reads a message of a foreign server: everything of it that can be kept, with {@link LOST} in its result.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function readForeignMessage(text: string): unknown {
  const { value, lost } = keepForeignJson(text);
  if (!isJsonObject(value)) return value;
  // Older servers send both members, one of them null.
  const { result, error, ...message } = value;
  if (error !== undefined && error !== null) return { ...message, error };
  if (isJsonObject(result)) return { ...message, result: { ...result, [LOST]: lost } };
  return result === undefined ? message : { ...message, result };
}

/**
 * Creates a `fetch` for the SDK that sends and reads messages as {@link readForeignMessage} does, so that the
 * SDK rounds no number. It follows redirects on the server's own origin.
 */
export function createForeignFetch(server: string, most: number): typeof fetch {
  const bounded = createBoundedFetch(server, most);
  return async (input, init) => {
    const { body } = init ?? {};
    const sent =
      typeof body === 'string' && body.includes('$number') ? formatForeignJson(JSON.parse(body)) : body;
    const response = await followRedirects(bounded, input, { ...init, body: sent ?? null });
    if (!response.ok || response.body === null) return response;
    const type = response.headers.get('Content-Type') ?? '';
    const headers = new Headers(response.headers);
    headers.delete('Content-Length');
    headers.delete('Content-Encoding');
    const { status, statusText } = response;
    if (/^text\/event-stream\b/i.test(type)) {
      const events = ReadableStream.from(toOwnEvents(response.body, findRequestId(body)));
      return withUrl(new Response(events, { status, statusText, headers }), response.url);
    }
    if (!/json/i.test(type)) return response;
    return withUrl(
      new Response(toOwnMessage(await response.text()), { status, statusText, headers }),
      response.url,
    );
  };
}

async function followRedirects(
  send: typeof fetch,
  first: Parameters<typeof fetch>[0],
  init: RequestInit,
): Promise<Response> {
  let input = first;
  for (let count = 0; ; count++) {
    const response = await send(input, { ...init, redirect: 'manual' });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    const from = new URL(input instanceof Request ? input.url : String(input));
    const to = URL.parse(response.headers.get('Location') ?? '', from.href);
    if (to !== null && to.origin === from.origin && REDIRECTS.has(response.status) && count < MAX_REDIRECTS) {
      input = to;
      continue;
    }
    throw new MeshError(
      'config',
      `${from.origin}${from.pathname} redirects (${response.status}) to ${to === null ? 'no URL' : `${to.origin}${to.pathname}`}: name the URL of the server itself`,
    );
  }
}

function withUrl(response: Response, url: string): Response {
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

/** A text that is not JSON is passed on: the SDK says what is wrong with it. */
function toOwnMessage(text: string): string {
  try {
    return JSON.stringify(readForeignMessage(text));
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function findRequestId(body: RequestInit['body'] | undefined): JsonValue | undefined {
  const request = typeof body === 'string' ? tryParseJson(body) : undefined;
  return isJsonObject(request) ? request.id : undefined;
}

/**
 * Passes on each event as soon as it is whole; the last one need not end with an empty line. A stream that ends
 * without the answer to its request, and cannot be resumed, ends with an error, for which the SDK would wait.
 */
async function* toOwnEvents(
  body: AsyncIterable<Uint8Array>,
  id: JsonValue | undefined,
): AsyncGenerator<Uint8Array> {
  let data: string[] = [];
  let isAnswered = id === undefined;
  const end = () => {
    const message = toOwnMessage(data.join('\n'));
    const own = data.length === 0 ? '' : `data: ${message}\n`;
    isAnswered ||= isJsonObject(tryParseJson(message)) && message.includes(`"id":${JSON.stringify(id)}`);
    data = [];
    return Buffer.from(`${own}\n`);
  };
  for await (const line of readEventLines(body)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line === '') yield end();
    else {
      isAnswered ||= /^id: ?./.test(line);
      yield Buffer.from(`${line}\n`);
    }
  }
  yield end();
  if (isAnswered) return;
  const error = { code: NO_ANSWER, message: 'the stream of events ended without an answer' };
  yield Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`);
}
