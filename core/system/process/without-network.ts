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

/** Whether processes without a network can be started here: on Linux, where the user may make namespaces. */
export function hasNamespaces(): boolean {
  const [program, ...args] = UNSHARE;
  namespaces ??=
    canHave('namespaces') && spawnSync(program, [...args, 'true'], { timeout: 5000 }).status === 0;
  return namespaces;
}

/** How Node is started with `args` and no network, where this machine can see to that; else as ever. */
export function isolateNodeCommand(args: readonly string[]): { program: string; args: string[] } {
  const [program, ...rest] = UNSHARE;
  if (!hasNamespaces()) return { program: process.execPath, args: [...args] };
  return { program, args: [...rest, process.execPath, ...args] };
}
