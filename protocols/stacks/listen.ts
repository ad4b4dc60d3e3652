import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';

/** Address at which a server listens: a port of the loopback or another address, 0 for any free one; or a socket file. */
export type Endpoint = { readonly port: number; readonly host?: string } | { readonly path: string };

/** @returns the port; 0 for a socket file */
export async function listenOnPlace(server: Server, endpoint: Endpoint): Promise<number> {
  server.listen('port' in endpoint ? { host: '127.0.0.1', ...endpoint } : endpoint);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Remembers the connections of `server` and returns a function that closes them and the server. */
export function trackConnections(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** @throws MeshError `agent` if no server listens or the TLS handshake fails */
export async function awaitConnection(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  what: string,
): Promise<Socket> {
  try {
    await once(socket, event);
    return socket;
  } catch (cause) {
    throw new MeshError('agent', `${what}: ${toErrorMessage(cause)}`, { cause });
  }
}
