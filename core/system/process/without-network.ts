import { spawn, spawnSync } from 'node:child_process';
import { isLinux } from '../platform.ts';

/** `unshare` replaces itself with the program, which keeps its process id and receives its signals. */
const UNSHARE = [
  'unshare',
  '--net',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']),
  '--',
] as const;

let namespaces: boolean | undefined;

/**
 * Begins to find out whether {@link hasNamespaces} is true. Making a namespace takes 5 to 15 ms, so a command that will
 * start agents tries it while it reads its configuration.
 */
export function tryNamespaces(): void {
  if (namespaces !== undefined || !isLinux) return;
  const [program, ...args] = UNSHARE;
  const child = spawn(program, [...args, 'true'], { stdio: 'ignore' });
  child.once('error', () => undefined);
  // A child that was ended by a signal gives no answer.
  child.once('exit', (code) => {
    if (code !== null) namespaces ??= code === 0;
  });
  child.unref();
}

/**
 * Returns true if processes without a network can be started here: on Linux, if the user may create
 * namespaces.
 */
export function hasNamespaces(): boolean {
  const [program, ...args] = UNSHARE;
  namespaces ??= isLinux && spawnSync(program, [...args, 'true'], { timeout: 5000 }).status === 0;
  return namespaces;
}

/**
 * Returns the command that starts a program, by default Node, with `args` and without a network if this machine
 * supports it; otherwise the plain command.
 */
export function isolateCommand(
  args: readonly string[],
  program: string = process.execPath,
): { program: string; args: string[] } {
  const [unshare, ...rest] = UNSHARE;
  if (!hasNamespaces()) return { program, args: [...args] };
  return { program: unshare, args: [...rest, program, ...args] };
}
