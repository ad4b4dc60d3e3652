import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for the output of a process that has ended. */
const OUTPUT_PATIENCE_MS = 200;

/** The end of a child process; `error` is set if it never started. */
interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

/**
 * Waits until a child process has ended and its output is read. A process that the child left behind may hold the output open for
 * ever, so after a moment the pipes are closed on this side. Call it before the child can end.
 */
export async function awaitChildEnd(child: ChildProcess): Promise<ChildEnd> {
  const { promise, resolve } = Promise.withResolvers<ChildEnd>();
  // Node does not emit `close` for a child whose channel was closed on this side.
  child.once('exit', (code, signal) => resolve({ code, signal }));
  child.on('error', (error) => {
    // The end of a started process is reported by `exit`; this error may be a message that came too late for it.
    if (child.pid === undefined) resolve({ code: null, signal: null, error });
  });
  const end = await promise;
  const open = [child.stdout, child.stderr].filter((stream) => stream != null && !stream.closed);
  const read = Promise.allSettled(open.map((stream) => stream && once(stream, 'close')));
  await Promise.race([read, sleep(OUTPUT_PATIENCE_MS, undefined, { ref: open.length > 0 })]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  return end;
}
