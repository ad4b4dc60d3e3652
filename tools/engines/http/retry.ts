import { computeBackoffMs, type Pace } from '../../http/retry.ts';
import type { ModelQuery } from '../model-format.ts';
import type { Permits } from '../permits.ts';
import type { ModelReply } from '../replies/server-reply.ts';
import type { ModelEndpoint } from '../requests/model-endpoint.ts';
import type { ExchangeLimits, Outcome } from './exchange.ts';
import { canDemandLess, chooseRemedy, describeCut, type Fault, isRateLimit } from './fault.ts';

interface Patience {
  /** Further requests after a failure that may pass (RA-24); unusable replies are counted elsewhere (C-07). */
  readonly maxRetries: number;
  readonly permits: Permits;
  readonly pace: Pace;
  readonly onNote: (note: string) => void;
}

/** Maximum retries of a reply that stalled: each costs the longest pause. */
const MAX_STALL_RETRIES = 1;

/** Limits are per minute; a longer pause would outlast any run. */
const BACKOFF = { firstMs: 500, maxMs: 10_000, maxRetryAfterMs: 60_000 };

type PatientOutcome = Outcome<ModelReply> & { readonly tries: number };

/** Sends a query until there is a reply, a retry cannot help, or the retries are used up. */
export async function chatPatiently(
  endpoint: ModelEndpoint,
  query: ModelQuery,
  limits: ExchangeLimits,
  patience: Patience,
): Promise<PatientOutcome> {
  const { maxRetries, pace, onNote } = patience;
  for (let tries = 1; ; tries++) {
    const { outcome, delayMs } = await chatOnce(endpoint, query, limits, patience, tries);
    if (outcome.fault === undefined || delayMs === undefined) return { ...outcome, tries };
    onNote(
      `${query.model} at ${endpoint.server.url}: ${shortenFault(outcome.fault)}; again in ${(delayMs / 1000).toFixed(1)} s ` +
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
  endpoint: ModelEndpoint,
  query: ModelQuery,
  limits: ExchangeLimits,
  { maxRetries, permits, pace }: Patience,
  tries: number,
): Promise<{ outcome: Outcome<ModelReply>; delayMs?: number }> {
  const release = await permits.acquire(endpoint.server.url, limits.signal);
  let pauseMs = 0;
  try {
    const outcome = await endpoint.chat(query, limits);
    const { fault } = outcome;
    if (fault === undefined || tries > maxRetries || chooseRemedy(fault) !== 'later') return { outcome };
    if (fault.kind === 'status' && canDemandLess(fault)) return { outcome };
    if (fault.kind === 'cut' && fault.isStalled === true && tries > MAX_STALL_RETRIES) return { outcome };
    const retryAfterMs = fault.kind === 'status' ? fault.retryAfterMs : undefined;
    const delayMs = computeBackoffMs(BACKOFF, tries, retryAfterMs, pace.random);
    if (isRateLimit(fault)) pauseMs = delayMs;
    return { outcome, delayMs };
  } finally {
    release(pauseMs);
  }
}

function shortenFault(fault: Fault): string {
  if (fault.kind === 'cut') return describeCut(fault);
  if (fault.kind === 'status')
    return `${fault.isInReply ? 'failed in its reply' : `HTTP ${fault.status}`}: ${fault.message}`;
  return 'why' in fault ? fault.why : fault.kind;
}
