import { spawn } from 'node:child_process';

/** Process and folder to remove when this process has gone, however it ended. */
interface Guarded {
  readonly pid?: number | undefined;
  readonly folder?: string;
}

/**
 * Shell script of the watcher: a line means that all was tidied up; the end of the pipe means that the holder
 * has died. The folder may still be written to for a moment.
 */
const SCRIPT = `read -r _ && exit 0
[ -z "$1" ] || kill -9 "$1"
[ -z "$2" ] || { rm -rf -- "$2"; sleep 1; rm -rf -- "$2"; }`;

/**
 * Has a process killed and a folder removed if this process is killed before it could do so: a separate shell
 * in its own process group waits at a pipe.
 *
 * @returns a function to call when all is tidied up
 */
export function guard({ pid, folder = '' }: Guarded): () => void {
  const watcher = spawn('sh', ['-c', SCRIPT, 'sh', pid === undefined ? '' : String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => undefined);
  // A process that could not be started may have no pipe.
  watcher.stdin?.on('error', () => undefined);
  // The watcher must not keep this process alive.
  watcher.unref();
  (watcher.stdin as { unref?: () => void } | undefined)?.unref?.();
  return () => watcher.stdin?.end('\n');
}
