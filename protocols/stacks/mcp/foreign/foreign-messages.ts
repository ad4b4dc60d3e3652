import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { limitBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson, keepForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { readEvents } from '../../http/event-stream.ts';

/** The member of a result that names what {@link readForeignMessage} could not keep of it. */
const LOST = 'gaia-mesh/lost';

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

/** Maximum requests that wait for a server at once, so that a server cannot ask for answers without end. */
const MAX_WAITING_REQUESTS = 256;

/**
 * Creates a `fetch` for the SDK, to talk to the untrusted `server`. It sends and reads messages as
 * {@link readForeignMessage} does, so that the SDK rounds no number; it sends requests to the server's own origin
 * alone, where it follows redirects, and reads at most `most` bytes of an answer.
 */
export function createForeignFetch(server: string, most: number): typeof fetch {
  let waiting = 0;
  const send: typeof fetch = async (input, init) => {
    requireOrigin(server, input);
    if (waiting === MAX_WAITING_REQUESTS)
      throw new MeshError('limit', `HTTP: more than ${MAX_WAITING_REQUESTS} requests wait for ${server}`);
    waiting += 1;
    return fetch(input, { ...init, redirect: 'manual' }).finally(() => {
      waiting -= 1;
    });
  };
  const tooLong = () => new MeshError('limit', `HTTP answer: expected at most ${most} bytes`);
  return async (input, init) => {
    const { body } = init ?? {};
    const sent =
      typeof body === 'string' && body.includes('$number') ? formatForeignJson(JSON.parse(body)) : body;
    const response = await followRedirects(send, input, { ...init, body: sent ?? null });
    if (response.body === null) return response;
    const came = limitBytes(response.body, most, tooLong);
    const { status, statusText, ok } = response;
    const type = response.headers.get('Content-Type') ?? '';
    const headers = new Headers(response.headers);
    headers.delete('Content-Length');
    headers.delete('Content-Encoding');
    const isEvents = ok && /^text\/event-stream\b/i.test(type);
    const passed = new Response(
      ReadableStream.from(isEvents ? toOwnEvents(came, findRequestId(body)) : came),
      { status, statusText, headers },
    );
    const isMessage = ok && !isEvents && /json/i.test(type);
    const own = isMessage
      ? new Response(toOwnMessage(await passed.text()), { status, statusText, headers })
      : passed;
    Object.defineProperty(own, 'url', { value: response.url });
    return own;
  };
}

async function followRedirects(
  send: typeof fetch,
  first: Parameters<typeof fetch>[0],
  init: RequestInit,
): Promise<Response> {
  let input = first;
  for (let count = 0; ; count++) {
    const response = await send(input, init);
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
 * Passes on each event as soon as it is whole. A stream that ends without the answer to its request, and cannot be
 * resumed, ends with an error, for which the SDK would wait.
 */
async function* toOwnEvents(
  body: AsyncIterable<Uint8Array>,
  id: JsonValue | undefined,
): AsyncGenerator<Uint8Array> {
  let isAnswered = id === undefined;
  for await (const { data, event, id: eventId, retryMs } of readEvents(body)) {
    const message = toOwnMessage(data);
    isAnswered ||= eventId !== undefined && eventId !== '';
    isAnswered ||= isJsonObject(tryParseJson(message)) && message.includes(`"id":${JSON.stringify(id)}`);
    const fields = Object.entries({ event, id: eventId, retry: retryMs });
    const head = fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\n`]));
    yield Buffer.from(`${head.join('')}data: ${message.replaceAll('\n', '\ndata: ')}\n\n`);
  }
  if (isAnswered) return;
  const error = { code: NO_ANSWER, message: 'the stream of events ended without an answer' };
  yield Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`);
}

/** The checked result of a tool call: every part that can be read, and what was lost. */
interface ForeignResult {
  readonly texts: readonly string[];
  /** Bytes that are declared to be an image. */
  readonly images: readonly Buffer[];
  readonly data: JsonObject | undefined;
  readonly isError: boolean;
  readonly lost: readonly string[];
}

/** Reads a result part by part: a part that cannot be read costs no other one. */
export function readForeignResult(result: JsonValue): ForeignResult {
  const { [LOST]: before, content, structuredContent, isError } = isJsonObject(result) ? result : {};
  const lost = isJsonList(before) ? before.filter((why) => typeof why === 'string') : [];
  const texts: string[] = [];
  const images: Buffer[] = [];
  for (const [index, block] of listBlocks(content).entries()) {
    const read = readBlock(block);
    const what = isJsonObject(block) && typeof block.type === 'string' ? `${block.type.slice(0, 64)} ` : '';
    if (read.lost !== undefined) lost.push(`content.${index}: ${what}${read.lost}`);
    if (read.text !== undefined) texts.push(read.text);
    if (read.image !== undefined) images.push(read.image);
  }
  return {
    texts,
    images,
    data: toData(structuredContent),
    isError: isError === true || isError === 'true',
    lost,
  };
}

/** A single block, and a text alone, count as a list of one. */
function listBlocks(content: JsonValue | undefined): readonly JsonValue[] {
  if (content === undefined || content === null) return [];
  return isJsonList(content) ? content : [content];
}

/** Data of programs is an object here; a list or a plain value becomes the member of one. */
function toData(value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  return isJsonObject(value) ? value : { value };
}

interface ReadBlock {
  readonly text?: string | undefined;
  readonly image?: Buffer;
  readonly lost?: string;
}

function readBlock(block: JsonValue): ReadBlock {
  if (typeof block === 'string') return { text: block };
  if (!isJsonObject(block)) return { lost: `is ${JSON.stringify(block).slice(0, 40)}, not an object` };
  const { type, text, data, mimeType, uri, name, resource } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { text } : { lost: `has ${typeName(text)} in place of a text` };
    case 'image': {
      const bytes = decodeBase64(data);
      return bytes === undefined ? { lost: 'has no base64 data' } : { image: bytes };
    }
    case 'audio': {
      const size = decodeBase64(data)?.length;
      return size === undefined
        ? { lost: 'has no base64 data' }
        : { text: `[audio ${shown(mimeType)}, ${size} bytes, which is left out]` };
    }
    case 'resource_link':
      return { text: `[resource ${shown(uri ?? name)}, which is not read]` };
    case 'resource': {
      if (!isJsonObject(resource)) return { lost: 'has no resource in it' };
      if (typeof resource.text === 'string') return { text: resource.text };
      const size = decodeBase64(resource.blob)?.length;
      if (size === undefined) return { lost: 'has neither text nor base64 data' };
      if (/^image\//.test(shown(resource.mimeType)))
        return { image: decodeBase64(resource.blob) ?? Buffer.alloc(0) };
      return { text: `[resource ${shown(resource.uri)}, ${size} bytes, which is left out]` };
    }
    default:
      return {
        text: typeof text === 'string' ? text : undefined,
        lost: 'is of a kind that is not known here',
      };
  }
}

/** Decodes base64 in each form that servers write: with line ends, in the alphabet of URLs, behind a data URI. */
function decodeBase64(value: JsonValue | undefined): Buffer | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.replace(/^data:[^,]{0,200},/, '').replace(/\s+/g, '');
  return /^[\w+/-]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, 256) : 'of an unknown kind';
}

function typeName(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  if (isJsonObject(value)) return 'an object';
  return Array.isArray(value) ? 'a list' : value === undefined ? 'nothing' : `a ${typeof value}`;
}
