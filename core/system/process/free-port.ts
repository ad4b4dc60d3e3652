import { once } from 'node:events';
import net from 'node:net';

/** A port of loopback that nobody listens on, for a program that cannot be told to take one itself. Another may be quicker. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the free port has no number');
  return address.port;
}
