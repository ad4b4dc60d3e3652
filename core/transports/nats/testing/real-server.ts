import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { hasNatsServer, NatsServerProcess } from '../nats-server-process.ts';

/** For files whose tests need a real server: without the program they are skipped, and fail where `CI=true`. */
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

/** A server that ends with the test. */
export async function realServer(
  ...options: Parameters<typeof NatsServerProcess.start>
): Promise<NatsServerProcess> {
  const server = await NatsServerProcess.start(...options);
  onTestFinished(() => server.stop());
  return server;
}

/** A folder in which a server with JetStream may keep its streams, until the test is over. */
export function storeFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-jetstream-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
