import { Agent, fetch as send } from 'undici';
import type { StackSettings } from '../contract/stack.ts';

/** A `fetch` with a pool of its own, for use by an SDK. */
interface PooledFetch {
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/**
 * Creates the `fetch` of npm's undici with connections as the settings have them: Node's own has no options
 * for the number of connections or for trust, and does not take an `Agent` of the package. It follows no
 * redirect, which would take headers with tokens along.
 */
export function createPooledFetch({ tls, connections, keepAliveMs, deadlineMs }: StackSettings): PooledFetch {
  const dispatcher = new Agent({
    connections,
    // 0 turns keep-alive off as well; 1 keeps connections with one request at a time.
    pipelining: keepAliveMs > 0 ? 1 : 0,
    ...(keepAliveMs > 0 ? { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs } : {}),
    allowH2: false,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    connect: { noDelay: true, ca: tls?.cert, minVersion: tls === null ? undefined : 'TLSv1.3' },
  });
  // Node's types and the package's are two copies of the same types, which the compiler does not identify.
  const ask = send as unknown as (input: Parameters<typeof fetch>[0], init: object) => Promise<Response>;
  return {
    fetch: (input, init) => ask(input, { ...init, dispatcher, redirect: 'error' }),
    close: () => dispatcher.destroy(),
  };
}
