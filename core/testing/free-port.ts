import { once } from 'node:events';
import net from 'node:net';

/**
 * Returns a loopback port on which nothing listens, for a program that cannot choose one itself. Another
 * process may take it first.
 */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the free port has no number');
  return address.port;
}
