import net from 'node:net';
import { MeshError, messageOf, systemCodeOf } from '../../contracts/errors.ts';
import type { Dialler, Listen } from '../transport.ts';
import { FrameSocket } from './frame-socket.ts';

/** Agents that listen on ports of one host. */
export function tcpDialler(host: string): Dialler {
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
export function tcpListen(host: string, port: number): Listen {
  return async ({ accept, fault }) => {
    const server = net.createServer({ noDelay: true }, (socket) => accept(FrameSocket.accept(socket)));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ host, port }, resolve);
    try {
      await promise;
    } catch (error) {
      const reason = systemCodeOf(error) === 'EADDRINUSE' ? `port ${port} is in use` : messageOf(error);
      throw new MeshError('io', `cannot listen on ${host}:${port}: ${reason}`, { cause: error });
    }
    server.on('error', (error) => fault(messageOf(error)));
    const address = server.address();
    const taken = typeof address === 'object' && address !== null ? address.port : 0;
    return {
      port: taken,
      where: `${host}:${taken}`,
      // Nobody else has the port: whoever dials it is told.
      setBusy: () => undefined,
      close: () => new Promise((done) => server.close(() => done())),
    };
  };
}
