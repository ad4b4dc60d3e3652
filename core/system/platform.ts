import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Differences between operating systems, in one place: no other file checks the system or reads Linux's own
 * files. Linux is tested, macOS should work; on Windows there is WSL, which is Linux.
 */

/** Consequences of another system than Linux. */
const LINUX_ALONE: readonly string[] = [
  'only Node can keep agents and sandboxed code off the network (no unshare)',
  'memory beside a heap of JavaScript is not bounded (no prlimit)',
  'CPU time of other processes, stolen time and memory in use are not known (no /proc)',
];

/**
 * True if namespaces, `prlimit` and the kernel's own files can exist here; the user of a part still has to try
 * whether it works.
 */
export const isLinux: boolean = process.platform === 'linux';

/** Returns the folder of the mesh's own cached files: libraries, models, peers in other languages. */
export function findCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const ofUser = process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache'];
  return path.join(environment.XDG_CACHE_HOME || path.join(os.homedir(), ...ofUser), 'gaia-mesh');
}

/** Describes the consequences of running on another system than Linux. */
export function listMissingParts(platform: NodeJS.Platform = process.platform): readonly string[] {
  if (platform === 'linux') return [];
  return platform === 'win32' ? [...LINUX_ALONE, 'use WSL, in which all of this is there'] : LINUX_ALONE;
}

/**
 * Files that the kernel of Linux writes. Agents may read the first one: see `core/run/agents/confinement.ts`.
 */
export const LOADAVG = '/proc/loadavg';
type LinuxFile = typeof LOADAVG | `/proc/${string}` | `/sys/${string}`;

/** Returns the file's text; undefined on other systems, or if it is gone or may not be read. */
export function readLinuxFile(file: LinuxFile): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
