/** Returns this process's usage so far: CPU time in microseconds, and memory in bytes. */
export function readProcessUsage() {
  const { user, system } = process.cpuUsage();
  return { cpuUs: { user, system }, rssBytes: process.memoryUsage.rss() };
}
