import os from 'node:os';
import { LOADAVG, readLinuxFile } from '../platform.ts';

/** How often is looked whether the processor has others to work for. */
const TICK_MS = 250;
/** However crowded the machine is, nobody waits longer than so many times the limit. */
const MAX_CROWDING = 20;

const CORES = os.availableParallelism();

/**
 * Calls `onEnd` when `ms` have passed of which a process could make use: on a machine with ten processes for each core they take ten times
 * as long. So a limit that is generous on an idle machine fails nobody on a busy one, and the time in which this process was itself
 * stopped does not count. Returns what calls it off.
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

/** Processes that could run, for each core; at least 1. */
function measureCrowding(): number {
  return Math.min(MAX_CROWDING, Math.max(1, countRunnable() / CORES));
}

function countRunnable(): number {
  // "0.20 0.18 0.12 3/450 11206": the fourth are those that run or could, now.
  const running = readLinuxFile(LOADAVG)?.split(' ')[3];
  return running === undefined ? (os.loadavg()[0] ?? 0) : Number.parseInt(running, 10);
}
