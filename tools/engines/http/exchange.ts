import http from 'node:http';
import https from 'node:https';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { ModelQuery, ModelReply, ModelServer } from '../model-format.ts';
import { readStart } from './body.ts';
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

/** A server with the options that its model gets. */
export interface ModelClient {
  readonly server: ModelServer;
  /** Sends a query once. @throws MeshError `usage` if the server requires a key and there is none */
  chat(query: ModelQuery, limits: ExchangeLimits): Promise<Outcome<ModelReply>>;
}

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

export interface ServerRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON, sent by POST; without it, the request is a GET. */
  readonly body?: string | undefined;
}

/**
 * Sends a request without a limit of its own. Node's `fetch` gives up on a server that is silent for 300 s, and a model on a CPU may read a
 * long prompt for longer than that. The caller limits it by `signal`. It follows no redirect, so that the key stays with the server.
 */
export async function sendPatiently(
  { url, headers, body = '' }: ServerRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { request: send } = url.protocol === 'https:' ? https : http;
  // Each request has its own connection: the server may close a kept one just when it is reused.
  const options = {
    method: body === '' ? 'GET' : 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...headers,
    },
    agent: false,
    signal,
  };
  const outgoing = send(url, options, (incoming) => {
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
}

/**
 * Makes one request to a model server under the limits, and returns what `read` makes of the reply, or the fault.
 *
 * @throws bugs
 */
export async function exchange<Result>(
  server: ModelServer,
  request: ServerRequest,
  limits: ExchangeLimits,
  read: (response: Response) => Promise<Result>,
): Promise<Outcome<Result>> {
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(limits.timeoutMs), MAX_TIMEOUT_MS));
  const finished = new AbortController();
  const silence = new AbortController();
  const { idleMs = IDLE_MS } = limits;
  const signal = AbortSignal.any([limits.signal, timeout, finished.signal, silence.signal]);
  try {
    const response = await sendPatiently(request, signal);
    if (!response.ok) throw new Refusal(await readRefusal(response, server.key));
    return { value: await read(watchSilence(response, idleMs, () => silence.abort())) };
  } catch (error) {
    if (error instanceof MeshError) throw error;
    if (limits.signal.aborted) return { fault: { kind: 'stopped', cause: error } };
    if (silence.signal.aborted) return { fault: { kind: 'silent', idleMs, cause: error } };
    if (timeout.aborted) return { fault: { kind: 'timeout', timeoutMs: limits.timeoutMs, cause: error } };
    return { fault: error instanceof Refusal ? { ...error.fault, cause: error } : toFault(error) };
  } finally {
    // A reader may stop at the end of the reply; anything after it would keep the connection open.
    finished.abort();
  }
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

/** The failure of a request that the server refuses. */
class Refusal extends Error {
  readonly fault: StatusFault;

  constructor(fault: StatusFault) {
    super('refused');
    this.fault = fault;
  }
}

function toFault(error: unknown): Fault {
  if (error instanceof z.ZodError) return { kind: 'foreign', why: formatIssues(error), cause: error };
  if (error instanceof SyntaxError) return { kind: 'foreign', why: error.message, cause: error };
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
