import http from 'node:http';
import https from 'node:https';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { requireOrigin } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson, parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { ModelServer } from '../servers/model-client.ts';
import { readStart, readWhole } from './body.ts';
import { type Fault, redact, type StatusFault } from './fault.ts';

export interface ExchangeLimits {
  readonly signal: AbortSignal;
  /** Time limit of one request, from sending it to the end of the reply. */
  readonly timeoutMs: number;
  /** Longest pause within a reply. It does not apply to reading the prompt, which takes a CPU minutes if it is long. */
  readonly idleMs?: number | undefined;
}

export type Outcome<Result> =
  | { readonly fault: Fault }
  | { readonly fault?: undefined; readonly value: Result };

/** The longest time that a timer can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_CHARACTERS = 500;

/** Connection failures that a retry may overcome; others fail again. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET'];
/** Longest pause within a reply by default: a server pauses between words, but after this time it is gone or stuck. */
const IDLE_MS = 120_000;

/** Statuses without a body (RFC 9110, section 6.4.1). */
const WITHOUT_BODY = [204, 205, 304];

/**
 * A `fetch` without a limit of its own. Node's gives up on a server that is silent for 300 s, and a model on a CPU may read a long prompt
 * for longer than that. The caller limits it by `signal`. It follows no redirect.
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
  // Each request has its own connection: the server may close a kept one just when it is reused.
  const headers = { ...Object.fromEntries(request.headers), 'content-length': String(body.length) };
  const outgoing = send(url, { method, headers, agent: false, signal }, (incoming) => {
    // The reader of the body gets the error; without a reader it does not matter.
    incoming.on('error', () => undefined);
    const { statusCode = 500, statusMessage = '' } = incoming;
    const received = new Headers();
    for (const [name, values] of Object.entries(incoming.headersDistinct)) {
      for (const value of values ?? []) received.append(name, value);
    }
    if (WITHOUT_BODY.includes(statusCode)) incoming.resume();
    const content = WITHOUT_BODY.includes(statusCode) ? null : ReadableStream.from(incoming);
    resolve(new Response(content, { status: statusCode, statusText: statusMessage, headers: received }));
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
};

/**
 * Makes one request to a model server with its client library, under the limits, and returns the result or the fault. The library gets
 * a `fetch` that ends with the limits, bounds the reply, fails if the server refuses, and follows no redirect, so that the key stays
 * with the server.
 *
 * @throws bugs
 */
export async function exchange<Result>(
  server: ModelServer,
  limits: ExchangeLimits,
  work: (fetch: typeof globalThis.fetch) => Promise<Result>,
  readBody: (response: Response) => Promise<Response> = readWhole,
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
      const response = await fetchPatiently(input, { ...withOwnDigits(init), signal });
      if (response.ok) return await readBody(watchSilence(response, idleMs, () => silence.abort()));
      throw new Refusal(await readRefusal(response, server.key));
    } catch (error) {
      // The libraries wrap this error, and not all of them keep it as the cause.
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
    // Some libraries stop reading at the end of the reply; anything after it would keep the connection open.
    finished.abort();
  }
}

/** Writes exact numbers in the body as the numbers that they are. */
function withOwnDigits(init: RequestInit | undefined): RequestInit {
  const { body } = init ?? {};
  if (typeof body !== 'string' || !body.includes('$number')) return { ...init };
  return { ...init, body: formatForeignJson(JSON.parse(body)) };
}

/** Returns the same reply, and calls `onSilence` if it has begun and then pauses too long. */
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
    code:
      typeof error.code === 'string' || typeof error.code === 'number'
        ? String(error.code)
        : (error.type ?? undefined),
  })),
  // The form of servers that are written with FastAPI.
  reasonSchema.transform(({ message }) => ({ message, code: undefined })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail, code: undefined })),
]);

/** Statuses for error types in replies that began with HTTP 200; all other types count as server errors. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  invalid_request_error: 400,
  exceed_context_size_error: 400,
};

/** Creates the failure for an error in the middle of a stream, in either format. */
export function toReplyFailure(event: unknown): Error {
  const { message, code } = parseErrorBody(JSON.stringify(event));
  return new Refusal({
    kind: 'status',
    status: STATUS_OF_TYPE[code ?? ''] ?? (/^[45]\d\d$/.test(code ?? '') ? Number(code) : 500),
    message: message.slice(0, MAX_ERROR_CHARACTERS).toWellFormed(),
    code,
    retryAfterMs: undefined,
    isInReply: true,
  });
}

function parseErrorBody(body: string): z.infer<typeof errorSchema> {
  try {
    const parsed = errorSchema.safeParse(parseForeignJson(body));
    if (parsed.success) return parsed.data;
  } catch (error) {
    // The body is a proxy's page, or empty: its text is the reason.
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { message: body.trim(), code: undefined };
}

/** The failure of `fetch` when the server refuses. Its message is neutral because libraries search it for the word "timeout". */
class Refusal extends Error {
  readonly fault: StatusFault;

  constructor(fault: StatusFault) {
    super('refused');
    this.fault = fault;
  }
}

/** Returns the server's refusal behind a library's error, if there is one. */
function findRefusal(error: unknown): StatusFault | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof Refusal) return inner.fault;
  }
  return undefined;
}

function toFault(error: unknown): Fault {
  if (error instanceof z.ZodError) return { kind: 'foreign', why: formatIssues(error), cause: error };
  if (error instanceof SyntaxError) return { kind: 'foreign', why: error.message, cause: error };
  // The libraries pass on the error of `fetch`, or wrap it.
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
 * Parses the pause that a server asks for, in milliseconds from now: OpenAI's `retry-after-ms`, else `Retry-After` in seconds
 * or as a date (RFC 9110, section 10.2.3). Undefined if there is none.
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
