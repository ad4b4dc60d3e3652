import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';

/**
 * Does `work`, whose signal is aborted when the caller's is or the deadline has passed.
 *
 * @param what names the work in the message: `json/unix: p-7`
 * @throws MeshError `agent` when the deadline has passed, and the reason of `signal` when that was aborted
 */
export async function withDeadline<Result>(
  {
    signal,
    deadlineMs,
    what,
  }: { readonly signal: AbortSignal; readonly deadlineMs: number; readonly what: string },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new MeshError('agent', `${what}: expected an answer within ${deadlineMs} ms, none came`));
  }, deadlineMs);
  const either = AbortSignal.any([signal, deadline.signal]);
  try {
    return await raceAbort(either, work(either));
  } finally {
    clearTimeout(timer);
  }
}
