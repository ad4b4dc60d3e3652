import { spawnSync } from 'node:child_process';
import { canHave } from '../platform.ts';

/** `unshare` becomes the program that it starts: same process, same signals. */
const UNSHARE = [
  'unshare',
  '--net',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']),
  '--',
] as const;

let namespaces: boolean | undefined;

/**
 * Returns true if processes without a network can be started here: on Linux, if the user may create
 * namespaces.
 */
export function hasNamespaces(): boolean {
  const [program, ...args] = UNSHARE;
  namespaces ??=
    canHave('namespaces') && spawnSync(program, [...args, 'true'], { timeout: 5000 }).status === 0;
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
