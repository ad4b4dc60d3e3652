import http from 'node:http';
import https from 'node:https';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import type { ModelServer, ReadBody } from '../servers/model-client.ts';
import { readStart, readWhole } from './body.ts';
import { type Fault, redact, type StatusFault } from './fault.ts';

export interface ExchangeLimits {
  readonly signal: AbortSignal;
  /** For one request, from asking to the end of its reply. */
  readonly timeoutMs: number;
  /** From one piece of a reply that has begun to the next. Reading the prompt is not bounded by it: a CPU takes minutes for a long one. */
  readonly idleMs?: number;
}

export type Outcome<Result> =
  | { readonly fault: Fault }
  | { readonly fault?: undefined; readonly value: Result };

/** The longest that a timer can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_CHARACTERS = 500;

/** Connections that broke, or that a moment may mend; others fail again. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET'];
/** A server that writes stops for a moment between words; one that has stopped for this long is gone or stuck. */
const IDLE_MS = 120_000;

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

/**
 * One request to a model server by its client library, under the limits: what it came to, or why to nothing. The library gets
 * a `fetch` that ends with the limits, holds no more than a reply can have, fails where the server refuses, and follows nobody
 * elsewhere with the key.
 *
 * @throws what is a bug
 */
export async function exchange<Result>(
  server: ModelServer,
  limits: ExchangeLimits,
  work: (fetch: typeof globalThis.fetch) => Promise<Result>,
  readBody: ReadBody = readWhole,
): Promise<Outcome<Result>> {
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(limits.timeoutMs), MAX_TIMEOUT_MS));
  const finished = new AbortController();
  const silence = new AbortController();
  const { idleMs = IDLE_MS } = limits;
  const signal = AbortSignal.any([limits.signal, timeout, finished.signal, silence.signal]);
  let failure: unknown;
  const boundedFetch: typeof globalThis.fetch = async (input, init) => {
    failure = undefined;
    try {
      requireOrigin(server.url, input);
      const response = await fetchPatiently(input, { ...init, signal });
      if (response.ok) return await readBody(watchSilence(response, idleMs, () => silence.abort()));
      throw new Refusal(await readRefusal(response, server.key));
    } catch (error) {
      // The libraries make another error of it, and not all keep this one as its cause.
      failure = error;
      throw error;
    }
  };
  try {
    return { value: await work(boundedFetch) };
  } catch (error) {
    if (error instanceof MeshError) throw error;
    if (limits.signal.aborted) return { fault: { kind: 'stopped', cause: error } };
    if (silence.signal.aborted) return { fault: { kind: 'silent', idleMs, cause: error } };
    if (timeout.aborted) return { fault: { kind: 'timeout', timeoutMs: limits.timeoutMs, cause: error } };
    const refusal = findRefusal(error);
    return { fault: refusal === undefined ? toFault(failure ?? error) : { ...refusal, cause: error } };
  } finally {
    // Some libraries stop reading at the end of the reply; what may come after it would hold the connection.
    finished.abort();
  }
}

/** The same reply, of which `onSilence` hears when it has begun and then does not go on. */
function watchSilence(response: Response, idleMs: number, onSilence: () => void): Response {
  const { body, status, headers } = response;
  if (body === null) return response;
  async function* pieces(whole: ReadableStream<Uint8Array>) {
    let timer: NodeJS.Timeout | undefined;
    try {
      for await (const piece of whole) {
        clearTimeout(timer);
        yield piece;
        timer = setTimeout(onSilence, Math.min(idleMs, MAX_TIMEOUT_MS));
      }
    } finally {
      clearTimeout(timer);
    }
  }
  return new Response(ReadableStream.from(pieces(body)), { status, headers });
}

async function readRefusal(response: Response, key: string | undefined): Promise<StatusFault> {
  const { status, headers, statusText } = response;
  const { message, code } = parseErrorBody(await readStart(response, MAX_ERROR_BYTES));
  return {
    kind: 'status',
    status,
    message:
      redact(message, key).slice(0, MAX_ERROR_CHARACTERS).toWellFormed() || statusText || 'no reason given',
    code,
    retryAfterMs: parseRetryAfter(headers, Date.now()),
  };
}

const reasonSchema = z.object({
  message: z.string(),
  type: z.string().nullish(),
  code: z.unknown().optional(),
});
const errorSchema = z.union([
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error, code: undefined })),
  z.object({ error: reasonSchema }).transform(({ error }) => ({
    message: error.message,
    code: typeof error.code === 'string' ? error.code : (error.type ?? undefined),
  })),
  // Servers that are written with FastAPI.
  reasonSchema.transform(({ message }) => ({ message, code: undefined })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail, code: undefined })),
]);

/** Kinds of failure that say what to do, in replies that had begun with HTTP 200; all others are the server's own. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  invalid_request_error: 400,
  exceed_context_size_error: 400,
};

/** What to fail with for an error in the middle of a stream, in either format's shape. */
export function toReplyFailure(event: unknown): Error {
  const { message, code } = parseErrorBody(JSON.stringify(event));
  return new Refusal({
    kind: 'status',
    status: STATUS_OF_TYPE[code ?? ''] ?? 500,
    message: message.slice(0, MAX_ERROR_CHARACTERS).toWellFormed(),
    code,
    retryAfterMs: undefined,
  });
}

function parseErrorBody(body: string): z.infer<typeof errorSchema> {
  try {
    const parsed = errorSchema.safeParse(JSON.parse(body));
    if (parsed.success) return parsed.data;
  } catch (error) {
    // A proxy's page, or nothing: the text is the reason.
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { message: body.trim(), code: undefined };
}

/**
 * What `fetch` fails with where the server refuses. The message says nothing: libraries look into it for the word "timeout".
 */
class Refusal extends Error {
  readonly fault: StatusFault;

  constructor(fault: StatusFault) {
    super('refused');
    this.fault = fault;
  }
}

/** The server's refusal that a library failed with, if it is one. */
function findRefusal(error: unknown): StatusFault | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof Refusal) return inner.fault;
  }
  return undefined;
}

function toFault(error: unknown): Fault {
  if (error instanceof z.ZodError) return { kind: 'foreign', why: formatIssues(error), cause: error };
  if (error instanceof SyntaxError) return { kind: 'foreign', why: error.message, cause: error };
  // The libraries hand on what `fetch` failed with, or wrap it.
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const code = readSystemCode(inner);
    if (code === undefined) continue;
    const why = inner.message || code;
    if (LOST.includes(code)) return { kind: 'lost', why, cause: error };
    return { kind: 'unreachable', isRefused: code === 'ECONNREFUSED', why, cause: error };
  }
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    throw error;
  return { kind: 'broken', why: toErrorMessage(error), cause: error };
}

/**
 * When a server wants to be asked again, in milliseconds from now: OpenAI's `retry-after-ms`, else `Retry-After` in seconds
 * or as a date (RFC 9110, section 10.2.3). Undefined where it names no time.
 *
 * @param nowMs milliseconds since 1970
 */
export function parseRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const exact = headers.get('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(exact)) return Number(exact);
  const value = headers.get('Retry-After') ?? '';
  if (value === '') return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
