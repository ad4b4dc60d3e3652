import { beforeEach, onTestFinished } from 'vitest';
import { hasNatsServer, NatsServerProcess } from '../nats-server-process.ts';

/** Skips the tests of a file that need a real server if the program is missing; with `CI=true` they fail. */
export function needNatsServer(): void {
  const isThere = hasNatsServer();
  const message = 'no nats-server on the search path (Debian: apt-get install nats-server)';
  if (!isThere && process.env.CI !== 'true') console.warn(`skipped: ${message}`);
  beforeEach((context) => {
    if (isThere) return;
    if (process.env.CI === 'true') throw new Error(message);
    context.skip(message);
  });
}

/** Starts a server that ends with the test. */
export async function realServer(
  ...options: Parameters<typeof NatsServerProcess.start>
): Promise<NatsServerProcess> {
  const server = await NatsServerProcess.start(...options);
  onTestFinished(() => server.stop());
  return server;
}
