import os from 'node:os';
import { LOADAVG, readLinuxFile } from '../platform.ts';

/** Interval of checks for the load of the processor. */
const TICK_MS = 250;
/** Maximum factor by which a limit is extended, however crowded the machine is. */
const MAX_CROWDING = 20;

const CORES = os.availableParallelism();

/**
 * Calls `onEnd` after `ms` of time that a process could use: on a machine with ten processes per core it
 * takes ten times as long. A limit that is generous on an idle machine is therefore also generous on a busy
 * one, and time in which this process was itself suspended does not count. Returns a function that cancels the
 * wait.
 */
export function waitPatiently(
  ms: number,
  onEnd: () => void,
  crowding: () => number = measureCrowding,
): () => void {
  let leftMs = ms;
  let timer = setTimeout(tick, Math.min(TICK_MS, ms));
  function tick(): void {
    leftMs -= Math.min(TICK_MS, leftMs) / crowding();
    if (leftMs < 1) onEnd();
    else timer = setTimeout(tick, Math.min(TICK_MS, leftMs));
  }
  return () => clearTimeout(timer);
}

/** Returns the number of runnable processes per core, at least 1. */
function measureCrowding(): number {
  return Math.min(MAX_CROWDING, Math.max(1, countRunnable() / CORES));
}

function countRunnable(): number {
  // In "0.20 0.18 0.12 3/450 11206" the fourth field begins with the number of runnable processes.
  const running = readLinuxFile(LOADAVG)?.split(' ')[3];
  return running === undefined ? (os.loadavg()[0] ?? 0) : Number.parseInt(running, 10);
}
