import v8 from 'node:v8';
import vm from 'node:vm';

/**
 * Returns this process's usage so far: CPU time in microseconds, and memory in bytes.
 *
 * @param collect collects garbage first, so that the heap counts live objects only
 */
export function readProcessUsage(collect: boolean) {
  const { user, system } = process.cpuUsage();
  if (collect) collectGarbage();
  const { rss: rssBytes, heapUsed: heapBytes } = process.memoryUsage();
  return { cpuUs: { user, system }, rssBytes, heapBytes };
}

let gc: unknown;

/** Collects garbage. Node has the function for it only after its flag is set. */
function collectGarbage(): void {
  if (gc === undefined) {
    v8.setFlagsFromString('--expose-gc');
    gc = vm.runInNewContext('gc');
  }
  if (typeof gc === 'function') gc();
}
