import { readdirSync } from 'node:fs';
import os from 'node:os';
import { readLinuxFile } from '../platform.ts';

/** Counters of the operating system at one moment; `undefined` if it does not count them. */
interface Counters {
  readonly stealMs: number | undefined;
  readonly throttledMs: number | undefined;
}

/** Other activity on the machine during a measurement. */
export interface MachineState {
  /** Processes that ran or waited for a core, averaged over the last minute. */
  readonly load: number;
  /** Milliseconds, of all cores, that the host gave to other machines; null if it does not report them. */
  readonly stealMs: number | null;
  /**
   * Milliseconds that this control group had to wait because its share of the cores was used up; null if
   * there is no such group.
   */
  readonly throttledMs: number | null;
  /** Memory that was available without swapping. */
  readonly availableBytes: number;
}

/** Unit of `/proc/stat`: a hundredth of a second, whatever the kernel's own clock (man 5 proc, USER_HZ). */
const MS_PER_TICK = 10;

/** Begins to watch the machine. The returned function reports the state since it was last called. */
export function watchMachine(): () => MachineState {
  let before = readCounters();
  return () => {
    const now = readCounters();
    const since = (key: keyof Counters) => {
      const [from, to] = [before[key], now[key]];
      return from === undefined || to === undefined ? null : Math.max(0, to - from);
    };
    const state = {
      load: os.loadavg()[0] ?? 0,
      stealMs: since('stealMs'),
      throttledMs: since('throttledMs'),
      availableBytes: readAvailableBytes(),
    };
    before = now;
    return state;
  };
}

/**
 * Returns the microseconds of CPU time (user and system) of these processes with all their threads, which
 * Linux counts to the nanosecond. Undefined elsewhere, or if a process is gone: a partial sum would pass for
 * the sum.
 */
export function readCpuUs(pids: readonly number[]): number | undefined {
  const each = pids.map(readThreadsUs);
  return each.some(Number.isNaN) ? undefined : each.reduce((sum, us) => sum + us, 0);
}

/** Returns NaN for a process that does not exist. */
function readThreadsUs(pid: number): number {
  const folder = `/proc/${pid}/task` as const;
  try {
    const threads = readdirSync(folder);
    const ns = threads.map((thread) => Number(readLinuxFile(`${folder}/${thread}/schedstat`)?.split(' ')[0]));
    return ns.reduce((sum, own) => sum + own, 0) / 1000;
  } catch {
    return Number.NaN;
  }
}

function readCounters(): Counters {
  // cpu  user nice system idle iowait irq softirq steal …
  const steal = parseLinuxNumber('/proc/stat', /^cpu +(?:\d+ +){7}(\d+)/);
  const throttledUs = parseLinuxNumber('/sys/fs/cgroup/cpu.stat', /^throttled_usec (\d+)$/m);
  return {
    stealMs: steal === undefined ? undefined : steal * MS_PER_TICK,
    throttledMs: throttledUs === undefined ? undefined : throttledUs / 1000,
  };
}

function readAvailableBytes(): number {
  const kibibytes = parseLinuxNumber('/proc/meminfo', /^MemAvailable: +(\d+) kB$/m);
  return kibibytes === undefined ? os.freemem() : kibibytes * 1024;
}

function parseLinuxNumber(file: Parameters<typeof readLinuxFile>[0], pattern: RegExp): number | undefined {
  const digits = pattern.exec(readLinuxFile(file) ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
