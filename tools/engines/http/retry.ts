import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelQuery, ModelReply } from '../model-format.ts';
import type { Permits } from '../permits.ts';
import type { ExchangeLimits, ModelClient, Outcome } from './exchange.ts';
import { canDemandLess, chooseRemedy, type Fault, isRateLimit } from './fault.ts';

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

interface Patience {
  /** Further requests after a failure that may pass (RA-24); unusable replies are counted elsewhere (C-07). */
  readonly maxRetries: number;
  readonly permits: Permits;
  readonly pace: Pace;
  readonly onNote: (note: string) => void;
}

const FIRST_BACKOFF_MS = 500;
/** Longest backoff: a server's queue moves in seconds, and a longer wait is the user's decision. */
const MAX_BACKOFF_MS = 10_000;
/** Longest pause that a server may ask for: limits are per minute, and a longer one would outlast any run, which the failure says. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Spreads the retries of agents that were refused together; small compared with the doubling, so that delays always grow. */
const JITTER = 0.25;

/** Returns the delay before retry number `retry` (from 1), in milliseconds. */
export function computeBackoffMs(
  retry: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  const factor = 1 - JITTER + 2 * JITTER * random();
  return Math.min(FIRST_BACKOFF_MS * 2 ** (retry - 1), MAX_BACKOFF_MS) * factor;
}

type PatientOutcome = Outcome<ModelReply> & { readonly tries: number };

/** Sends a query until there is a reply, a retry cannot help, or the retries are used up. */
export async function chatPatiently(
  client: ModelClient,
  query: ModelQuery,
  limits: ExchangeLimits,
  patience: Patience,
): Promise<PatientOutcome> {
  const { maxRetries, pace, onNote } = patience;
  for (let tries = 1; ; tries++) {
    const { outcome, delayMs } = await chatOnce(client, query, limits, patience, tries);
    if (outcome.fault === undefined || delayMs === undefined) return { ...outcome, tries };
    onNote(
      `${query.model} at ${client.server.url}: ${shortenFault(outcome.fault)}; again in ${(delayMs / 1000).toFixed(1)} s ` +
        `(retry ${tries} of ${maxRetries})`,
    );
    try {
      await pace.wait(delayMs, limits.signal);
    } catch (cause) {
      if (!limits.signal.aborted) throw cause;
      return { fault: { kind: 'stopped', cause }, tries };
    }
  }
}

/** Makes one request with a permit, which is released before any pause; returns `delayMs` if a retry is worthwhile. */
async function chatOnce(
  client: ModelClient,
  query: ModelQuery,
  limits: ExchangeLimits,
  { maxRetries, permits, pace }: Patience,
  tries: number,
): Promise<{ outcome: Outcome<ModelReply>; delayMs?: number }> {
  const release = await permits.acquire(client.server.url, limits.signal);
  let pauseMs = 0;
  try {
    const outcome = await client.chat(query, limits);
    const { fault } = outcome;
    if (fault === undefined || tries > maxRetries || chooseRemedy(fault, client.server) !== 'later')
      return { outcome };
    if (fault.kind === 'status' && canDemandLess(fault)) return { outcome };
    const retryAfterMs = fault.kind === 'status' ? fault.retryAfterMs : undefined;
    const delayMs = computeBackoffMs(tries, retryAfterMs, pace.random);
    if (isRateLimit(fault)) pauseMs = delayMs;
    return { outcome, delayMs };
  } finally {
    release(pauseMs);
  }
}

function shortenFault(fault: Fault): string {
  if (fault.kind === 'status') return `HTTP ${fault.status}: ${fault.message}`;
  return 'why' in fault ? fault.why : fault.kind;
}
