import { setTimeout as sleep } from 'node:timers/promises';

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
export interface Backoff {
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
