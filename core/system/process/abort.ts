/**
 * Calls back when `signal` is aborted, at once if it already is.
 * @returns a function that stops watching
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener('abort', callback);
  return () => signal?.removeEventListener('abort', callback);
}

/**
 * Returns the result of `work`, unless `signal` is aborted before. The work itself continues.
 *
 * @throws `reason`, by default the signal's own
 */
export async function raceAbort<Value>(
  signal: AbortSignal,
  work: Promise<Value>,
  reason = (): unknown => signal.reason,
): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const unwatch = onAbort(signal, () => reject(reason()));
  try {
    return await Promise.race([aborted, work]);
  } finally {
    unwatch();
  }
}
