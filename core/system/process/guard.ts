import { spawn } from 'node:child_process';
import { isPosix } from '../platform.ts';

/** What is to go when this process is gone, however it ended. */
interface Guarded {
  readonly pid?: number | undefined;
  readonly folder?: string;
}

/** A line says that all was tidied up; without one the pipe's end is the end of who held it. The folder may still be written to for a moment. */
const SCRIPT = `read -r _ && exit 0
[ -z "$1" ] || kill -9 "$1"
[ -z "$2" ] || { rm -rf -- "$2"; sleep 1; rm -rf -- "$2"; }`;

/**
 * Has a process killed and a folder removed when this process is killed before it could do so: by a shell of its own, in a process group of
 * its own, that waits at a pipe. Does nothing where there is no `sh`.
 *
 * @returns what is to be called when all is tidied up
 */
export function guard({ pid, folder = '' }: Guarded): () => void {
  if (!isPosix()) return () => undefined;
  const watcher = spawn('sh', ['-c', SCRIPT, 'sh', pid === undefined ? '' : String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  // It keeps nobody alive.
  watcher.unref();
  (watcher.stdin as { unref?: () => void }).unref?.();
  return () => watcher.stdin.end('\n');
}
