import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Differences between operating systems, in one place: no other file checks the system or reads Linux's own
 * files. Linux is tested, macOS should work; on Windows there is WSL, which is Linux.
 */

/** Parts that only Linux has, and the consequence of their absence. */
const LINUX_ALONE = {
  namespaces: 'only Node can keep agents and sandboxed code off the network (no unshare)',
  prlimit: 'memory beside a heap of JavaScript is not bounded (no prlimit)',
  procFiles: 'CPU time of other processes, stolen time and memory in use are not known (no /proc)',
} as const;

type LinuxPart = keyof typeof LINUX_ALONE;

/** Returns true if this part can exist here; the user of the part still has to try whether it works. */
export function canHave(_part: LinuxPart, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'linux';
}

/** Returns true if there are a shell, signals and process groups as POSIX defines them. */
export function isPosix(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32';
}

/** Returns the system's name for messages. */
export function namePlatform(platform: NodeJS.Platform = process.platform): string {
  return platform === 'darwin' ? 'macOS' : platform === 'win32' ? 'Windows' : platform;
}

/** Returns the system's folder for cached files of its user. */
function findUserCache(environment: NodeJS.ProcessEnv): string {
  const home = os.homedir();
  if (process.platform === 'win32') return environment.LOCALAPPDATA ?? path.join(home, 'AppData', 'Local');
  return process.platform === 'darwin' ? path.join(home, 'Library', 'Caches') : path.join(home, '.cache');
}

/** Returns the folder of the mesh's own cached files: libraries, models, peers in other languages. */
export function findCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return path.join(environment.XDG_CACHE_HOME || findUserCache(environment), 'gaia-mesh');
}

/** Describes the consequences of running on another system than Linux. */
export function listMissingParts(platform: NodeJS.Platform = process.platform): string[] {
  const parts = Object.entries(LINUX_ALONE).map(([, without]) => without);
  const own = isPosix(platform)
    ? []
    : ['processes that were killed leave theirs behind (no sh); use WSL, in which all of this is there'];
  return [...(platform === 'linux' ? [] : parts), ...own];
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
