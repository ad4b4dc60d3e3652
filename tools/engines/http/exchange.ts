import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { findConnectionFault, findRedirect, readStart, sendRequest } from '../../http/fetch.ts';
import { parseRetryAfter } from '../../http/service.ts';
import { createStatusFault, type Fault, FaultError, type ModelServer } from './fault.ts';

export interface ExchangeLimits {
  readonly signal: AbortSignal;
  /** Time limit of one request, from sending it to the end of the reply. */
  readonly timeoutMs: number;
  /** Longest pause within a reply. It does not apply to reading the prompt, which takes a CPU minutes if it is long. */
  readonly idleMs?: number | undefined;
}

export type Outcome<Result> =
  | { readonly fault: Fault; readonly value?: undefined }
  | { readonly fault?: undefined; readonly value: Result };

/** The longest time that a timer can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_ERROR_BYTES = 64 * 1024;

/** Connection failures that a retry may overcome; others fail again. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'];
/** Longest pause within a reply by default: a server pauses between words, but after this time it is gone or stuck. */
const IDLE_MS = 120_000;
/** The part of a request's time that a pause may last by default, so that there is time to ask again. */
const IDLE_PART = 0.25;

interface ServerRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON, sent by POST; without it, the request is a GET. */
  readonly body?: string | undefined;
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
  const { idleMs = Math.min(IDLE_MS, IDLE_PART * limits.timeoutMs) } = limits;
  // A server that packed its reply would hold words back.
  const headers = { 'accept-encoding': 'identity', ...request.headers };
  const signal = AbortSignal.any([limits.signal, timeout, finished.signal, silence.signal]);
  try {
    const response = await sendRequest(request.url, { ...request, headers, signal });
    if (!response.ok) return { fault: await readRefusal(response, server.key) };
    return { value: await read(watchSilence(response, idleMs, () => silence.abort())) };
  } catch (error) {
    if (error instanceof MeshError) throw error;
    if (limits.signal.aborted) return { fault: { kind: 'stopped', cause: error } };
    const known = error instanceof FaultError ? error.fault : undefined;
    if (silence.signal.aborted && known?.kind === 'cut')
      return { fault: { ...known, why: `nothing came for ${idleMs / 1000} s`, isStalled: true } };
    if (timeout.aborted) return { fault: { kind: 'timeout', timeoutMs: limits.timeoutMs, cause: error } };
    return { fault: known ?? toFault(error) };
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

async function readRefusal(response: Response, key: string | undefined): Promise<Fault> {
  const { status, headers, statusText } = response;
  const place = findRedirect(response);
  const words =
    place === undefined
      ? (await readStart(response, MAX_ERROR_BYTES)).trim() || statusText
      : `it redirects to ${place}, where no key is sent: name the URL of the API`;
  return createStatusFault(words, key, { status, retryAfterMs: parseRetryAfter(headers, Date.now()) });
}

function toFault(error: unknown): Fault {
  if (error instanceof z.ZodError) return { kind: 'foreign', why: formatIssues(error), cause: error };
  if (error instanceof SyntaxError) return { kind: 'foreign', why: error.message, cause: error };
  const fault = findConnectionFault(error);
  if (fault !== undefined) {
    const { code, message: why } = fault;
    if (LOST.includes(code) || fault.isCutOff) return { kind: 'lost', why, cause: error };
    return { kind: 'unreachable', isRefused: code === 'ECONNREFUSED', why, cause: error };
  }
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError)
    throw error;
  return { kind: 'unusable', why: toErrorMessage(error), cause: error };
}
