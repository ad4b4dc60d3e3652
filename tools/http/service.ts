import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import {
  type FetchInit,
  findConnectionFault,
  findRedirect,
  MAX_REDIRECTS,
  readStart,
  sendRequest,
} from './fetch.ts';

/** Clock and randomness, passed in so that tests are fast and deterministic. */
export interface Pace {
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Rejects when `signal` is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realPace: Pace = {
  random: Math.random,
  nowMs: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** The pauses before retries. */
interface Backoff {
  readonly firstMs: number;
  /** Longest pause of its own: a server's queue moves in seconds, and a longer wait is the user's decision. */
  readonly maxMs: number;
  /** Longest pause that a server may ask for; a longer one is shortened to this. */
  readonly maxRetryAfterMs: number;
}

/** Spreads the retries of agents that were refused together; small compared with the doubling, so that delays always grow. */
const JITTER = 0.25;

/** Returns the delay before retry number `retry` (from 1), in milliseconds. */
export function computeBackoffMs(
  { firstMs, maxMs, maxRetryAfterMs }: Backoff,
  retry: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, maxRetryAfterMs);
  const factor = 1 - JITTER + 2 * JITTER * random();
  return Math.min(firstMs * 2 ** (retry - 1), maxMs) * factor;
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

/** Statuses of a service that is busy or broken for the moment. */
const TRANSIENT: readonly number[] = [408, 429, 500, 502, 503, 504];
/** The headers that a server other than the named one gets, so that a key is never sent on, whatever its header's name. */
const PLAIN_HEADERS: readonly string[] = ['accept', 'user-agent'];
const MAX_ERROR_BYTES = 64 * 1024;

interface ServiceRequest extends Pick<FetchInit, 'headers' | 'body'> {
  readonly url: URL;
  /** Statuses that are replies and not refusals, besides those of success. */
  readonly accepts?: readonly number[] | undefined;
  /** Time limit of one attempt, from the request to the end of the reply's head. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** Retries if there is no connection: an unreachable service stays so for more than seconds, a dropped packet does not. */
const MAX_NETWORK_RETRIES = 1;
const BACKOFF: Backoff = { firstMs: 300, maxMs: 10_000, maxRetryAfterMs: 30_000 };

/** A service's refusal, with the text of its body, which each service words in its own form. */
export class ServiceRefusal extends Error {
  readonly status: number;
  readonly text: string;

  constructor(status: number, text: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.text = text;
  }
}

/**
 * Asks a service that the user named, and retries while it is busy or the connection breaks before a reply, also by POST, with growing
 * pauses or those that it asks for.
 *
 * @returns the reply, whose body has not been read
 * @throws ServiceRefusal, DOMException `TimeoutError`, TypeError for a connection (see `fetch.ts`), MeshError `tool` for a redirect that
 * is not followed
 */
export async function requestService(request: ServiceRequest, signal: AbortSignal): Promise<Response> {
  const { accepts = [], maxRetries } = request;
  for (let retry = 1; ; retry++) {
    let retryAfterMs: number | undefined;
    try {
      const response = await sendInTime(request, signal);
      if (response.ok || accepts.includes(response.status)) return response;
      retryAfterMs = parseRetryAfter(response.headers, Date.now());
      throw new ServiceRefusal(response.status, await readStart(response, MAX_ERROR_BYTES));
    } catch (error) {
      const most = error instanceof ServiceRefusal ? maxRetries : Math.min(maxRetries, MAX_NETWORK_RETRIES);
      if (signal.aborted || retry > most || !mayPass(error)) throw error;
    }
    await realPace.wait(computeBackoffMs(BACKOFF, retry, retryAfterMs, realPace.random), signal);
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ServiceRefusal)) return findConnectionFault(error) !== undefined;
  // A quota that is used up is not refilled during retries, although its status says to try again.
  return TRANSIENT.includes(error.status) && !error.text.includes('"insufficient_quota"');
}

async function sendInTime(request: ServiceRequest, signal: AbortSignal): Promise<Response> {
  const { url, headers, body, timeoutMs } = request;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('no reply', 'TimeoutError')), timeoutMs);
  try {
    return await sendFollowing(url, { headers, body, signal: AbortSignal.any([signal, late.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends a request and follows redirects of GET requests only: a request's body is meant for the named server. Keys go to that server's
 * origin and nowhere else, and a redirect never leads from https to http.
 *
 * @throws MeshError `tool` for a redirect that is not followed
 */
async function sendFollowing(from: URL, { headers = {}, body, signal }: FetchInit): Promise<Response> {
  const plain = Object.fromEntries(
    Object.entries(headers).filter(([name]) => PLAIN_HEADERS.includes(name.toLowerCase())),
  );
  const method = body === undefined ? 'GET' : 'POST';
  let response = await sendRequest(from, { headers, body, signal });
  let at = from;
  for (let redirects = 0; ; redirects++) {
    const location = findRedirect(response);
    if (location === undefined) return response;
    await response.body?.cancel();
    const target = parseForeignUrl(URL.parse(location, at.href)?.href ?? '');
    const isLess = at.protocol === 'https:' && target?.protocol === 'http:';
    if (method !== 'GET' || target === undefined || isLess || redirects === MAX_REDIRECTS) {
      const to = target?.origin ?? JSON.stringify(location.slice(0, 200));
      throw new MeshError(
        'tool',
        `${at.origin} redirects a ${method} to ${to}, which is not followed: set the right URL`,
      );
    }
    at = target;
    response = await sendRequest(at, { headers: at.origin === from.origin ? headers : plain, signal });
  }
}
