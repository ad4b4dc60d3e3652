import net from 'node:net';
import { MeshError, readSystemCode, toErrorMessage } from '../../contracts/errors.ts';
import type { Dialler, LinkHandler, Listen, Listener } from '../transport.ts';
import { FrameSocket } from './frame-socket.ts';

/** Agents listen on this machine alone. */
const HOST = '127.0.0.1';

/** Agents that listen on ports of one host. */
export function createTcpDialler(host = HOST): Dialler {
  return {
    async dial({ port }) {
      try {
        return await FrameSocket.dial(host, port);
      } catch (error) {
        if (error instanceof Error && readSystemCode(error.cause) === 'ECONNREFUSED') return undefined;
        throw error;
      }
    },
    where: ({ port }) => `${host}:${port}`,
  };
}

/** Listens on a port; 0 takes any free one. */
export function createTcpListen(port: number): Listen {
  return async (hearer) => createListener(await openPort(port), hearer);
}

/** Listens on a port that another process opened: one with no network of its own. */
export function createInheritedListen(server: net.Server): Listen {
  return async (hearer) => {
    server.removeAllListeners('connection');
    return createListener(server, hearer);
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
    const reason = readSystemCode(error) === 'EADDRINUSE' ? `port ${port} is in use` : toErrorMessage(error);
    throw new MeshError('io', `cannot listen on ${HOST}:${port}: ${reason}`, { cause: error });
  }
  return server;
}

function createListener(server: net.Server, { accept, fault }: LinkHandler): Listener {
  server.on('connection', (socket) => accept(FrameSocket.accept(socket)));
  server.on('error', (error) => fault(toErrorMessage(error)));
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
