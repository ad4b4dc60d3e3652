import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { StackSettings } from '../contract/stack.ts';

/** `fetch` with a pool of its own, to be handed to an SDK. */
interface PooledFetch {
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/**
 * The `fetch` of npm's undici with connections as the settings have them: Node's own cannot be told how many to keep, nor whom to
 * trust, and does not take an `Agent` of the package. It follows no redirect: headers with tokens would go along.
 *
 * @throws MeshError `config` where undici is not installed
 */
export async function createPooledFetch(
  purpose: string,
  { tls, connections, keepAliveMs, noDelay, deadlineMs }: StackSettings,
): Promise<PooledFetch> {
  const undici = await withPackage('undici@8', purpose, () => import('undici'));
  const dispatcher = new undici.Agent({
    connections,
    // Without pipelining there is no keep-alive either; one request at a time is what it means otherwise.
    pipelining: keepAliveMs > 0 ? 1 : 0,
    ...(keepAliveMs > 0 ? { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs } : {}),
    allowH2: false,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    connect: { noDelay, ...(tls === null ? {} : { ca: tls.cert, minVersion: 'TLSv1.3' as const }) },
  });
  // The same types in two copies, Node's and the package's, which do not know each other.
  const ask = undici.fetch as unknown as (
    input: Parameters<typeof fetch>[0],
    init: object,
  ) => Promise<Response>;
  return {
    fetch: (input, init) => ask(input, { ...init, dispatcher, redirect: 'error' }),
    close: () => dispatcher.destroy(),
  };
}
