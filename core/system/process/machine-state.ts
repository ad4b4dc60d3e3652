import { readdirSync } from 'node:fs';
import os from 'node:os';
import { readLinuxFile } from '../platform.ts';

/** What the operating system had counted at one moment; `undefined` where it does not count that. */
interface Counters {
  readonly stealMs: number | undefined;
  readonly throttledMs: number | undefined;
}

/** What a measurement shared its machine with, from one moment to another. */
export interface MachineState {
  /** Processes that ran or waited for a core, averaged over the last minute. */
  readonly load: number;
  /** Milliseconds, of all cores, that the host gave to other machines; null where it does not say. */
  readonly stealMs: number | null;
  /** Milliseconds that this control group had to wait because its share of the cores was used up; null where there is no such group. */
  readonly throttledMs: number | null;
  /** Memory that could be had without swapping. */
  readonly availableBytes: number;
}

/** Of `/proc/stat`: a hundredth of a second, whatever the kernel's own clock (man 5 proc, USER_HZ). */
const MS_PER_TICK = 10;

/** Begins to watch the machine. The function that it gives tells what was since it was last called. */
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
 * Microseconds that these processes, all their threads, have had a core (user and system), as Linux counts them to the nanosecond.
 * Undefined elsewhere, and where one of them is gone: a part of a sum would pass for the sum.
 */
export function readCpuUs(pids: readonly number[]): number | undefined {
  const each = pids.map(readThreadsUs);
  return each.some(Number.isNaN) ? undefined : each.reduce((sum, us) => sum + us, 0);
}

/** NaN for a process that is not there. */
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
