/** Milliseconds that this process has computed so far: unlike a clock it stands still while a busy machine does something else. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
