import net from 'node:net';
import { MeshError, readSystemCode, toErrorMessage } from '../../contracts/errors.ts';
import type { Dialler, Listen, Listener } from '../transport.ts';
import { FrameSocket } from './frame-socket.ts';

/** Address on which agents listen: on this machine only. */
const HOST = '127.0.0.1';

/** Dials agents that listen on ports of this machine. */
export const tcpDialler: Dialler = {
  async dial({ port }) {
    try {
      return await FrameSocket.dial(HOST, port);
    } catch (error) {
      if (error instanceof Error && readSystemCode(error.cause) === 'ECONNREFUSED') return undefined;
      throw error;
    }
  },
  where: ({ port }) => `${HOST}:${port}`,
};

/**
 * Listens on a port, or with a server whose port another process opened, for a process without its own network.
 *
 * @param at the port, 0 for any free one; or the server
 */
export function createTcpListen(at: number | net.Server): Listen {
  return async (hearer) => {
    const server = typeof at === 'number' ? await openPort(at) : at.removeAllListeners('connection');
    return createListener(server, hearer);
  };
}

/**
 * Opens a port; 0 takes any free one.
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

function createListener(server: net.Server, { accept, fault }: Parameters<Listen>[0]): Listener {
  server.on('connection', (socket) => accept(FrameSocket.accept(socket)));
  server.on('error', (error) => fault(toErrorMessage(error)));
  const address = server.address();
  const { address: host, port } =
    typeof address === 'object' && address !== null ? address : { address: HOST, port: 0 };
  return {
    port,
    where: `${host}:${port}`,
    // No other process has the port, so a second hub gets a refusal in the handshake.
    setBusy: () => undefined,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
