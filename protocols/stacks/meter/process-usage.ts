import v8 from 'node:v8';
import vm from 'node:vm';

/**
 * What this process has come to so far: CPU time in microseconds, and memory.
 *
 * @param collect garbage is collected first, so that the heap is what is kept
 */
export function readProcessUsage(collect: boolean) {
  const { user, system } = process.cpuUsage();
  if (collect) collectGarbage();
  const { rss: rssBytes, heapUsed: heapBytes } = process.memoryUsage();
  return { cpuUs: { user, system }, rssBytes, heapBytes };
}

let gc: unknown;

/** Node has the function for it only when it is told to. */
function collectGarbage(): void {
  if (gc === undefined) {
    v8.setFlagsFromString('--expose-gc');
    gc = vm.runInNewContext('gc');
  }
  if (typeof gc === 'function') gc();
}
