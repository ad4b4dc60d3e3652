import net from 'node:net';
import { MeshError, messageOf, systemCodeOf } from '../../contracts/errors.ts';
import type { Dialler, Hearer, Listen, Listener } from '../transport.ts';
import { FrameSocket } from './frame-socket.ts';

/** Agents listen on this machine alone. */
const HOST = '127.0.0.1';

/** Agents that listen on ports of one host. */
export function tcpDialler(host = HOST): Dialler {
  return {
    async dial({ port }) {
      try {
        return await FrameSocket.dial(host, port);
      } catch (error) {
        if (error instanceof Error && systemCodeOf(error.cause) === 'ECONNREFUSED') return undefined;
        throw error;
      }
    },
    where: ({ port }) => `${host}:${port}`,
  };
}

/** Listens on a port; 0 takes any free one. */
export function tcpListen(port: number): Listen {
  return async (hearer) => listenerOf(await openPort(port), hearer);
}

/** Listens on a port that another process opened: one with no network of its own. */
export function inheritedListen(server: net.Server): Listen {
  return async (hearer) => {
    server.removeAllListeners('connection');
    return listenerOf(server, hearer);
  };
}

/**
 * Takes a port, 0 any free one.
 *
 * @throws MeshError `io` when it cannot listen there
 */
export async function openPort(port: number): Promise<net.Server> {
  const server = net.createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host: HOST, port }, resolve);
  try {
    await promise;
  } catch (error) {
    const reason = systemCodeOf(error) === 'EADDRINUSE' ? `port ${port} is in use` : messageOf(error);
    throw new MeshError('io', `cannot listen on ${HOST}:${port}: ${reason}`, { cause: error });
  }
  return server;
}

function listenerOf(server: net.Server, { accept, fault }: Hearer): Listener {
  server.on('connection', (socket) => accept(FrameSocket.accept(socket)));
  server.on('error', (error) => fault(messageOf(error)));
  const address = server.address();
  const { address: host, port } =
    typeof address === 'object' && address !== null ? address : { address: HOST, port: 0 };
  return {
    port,
    where: `${host}:${port}`,
    // Nobody else has the port: whoever dials it is told.
    setBusy: () => undefined,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
