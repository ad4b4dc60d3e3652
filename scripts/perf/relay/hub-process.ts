import { readFileSync } from 'node:fs';

/** In which Linux counts a process's time towards programs, whatever its own clock. */
const TICKS_PER_S = 100;

/** Processor time that a process has used so far, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Its name, in brackets, may hold spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

/** The most memory that a process has held so far, in MB. */
export function peakMbOf(pid: number): number {
  const kb = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}
