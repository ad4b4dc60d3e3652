import { readFileSync } from 'node:fs';

/**
 * What differs between operating systems, in one place: nobody else asks which one this is or reads Linux's own files. Linux is tested, macOS
 * should work; on Windows there is WSL, which is Linux.
 */

/** What Linux alone has, and what is so without it. */
const LINUX_ALONE = {
  namespaces: 'agents and code in the sandbox are kept off the network by Node or by nobody (no unshare)',
  prlimit: 'memory beside a heap of JavaScript is not bounded (no prlimit)',
  pythonSandbox: "the system's Python is not used; Pyodide is",
  procFiles: 'CPU time of other processes, stolen time and memory in use are not known (no /proc)',
} as const;

type LinuxPart = keyof typeof LINUX_ALONE;

/** Whether this may be here; that it works is for who uses it to try. */
export function canHave(_part: LinuxPart, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'linux';
}

/** A shell, signals and process groups, as POSIX has them. */
export function isPosix(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== 'win32';
}

/** How it is called where something must be told about it. */
export function namePlatform(platform: NodeJS.Platform = process.platform): string {
  return platform === 'darwin' ? 'macOS' : platform === 'win32' ? 'Windows' : platform;
}

/** What is so here because this is no Linux, in words. */
export function listMissingParts(platform: NodeJS.Platform = process.platform): string[] {
  const parts = Object.entries(LINUX_ALONE).map(([, without]) => without);
  const own = isPosix(platform)
    ? []
    : ['processes that were killed leave theirs behind (no sh); use WSL, in which all of this is there'];
  return [...(platform === 'linux' ? [] : parts), ...own];
}

/** Files that the kernel of Linux writes. Agents may read the first one: see `core/run/agents/confinement.ts`. */
export const LOADAVG = '/proc/loadavg';
type LinuxFile = typeof LOADAVG | `/proc/${string}` | `/sys/${string}`;

/** Its text; undefined on other systems, and where it is gone or may not be read. */
export function readLinuxFile(file: LinuxFile): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
