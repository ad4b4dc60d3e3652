/**
 * Returns the CPU milliseconds of this process so far: unlike a clock they stand still while a busy machine
 * does something else.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
