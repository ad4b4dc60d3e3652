import net from 'node:net';
import { MeshError, messageOf, systemCodeOf } from '../errors.ts';
import type { FrameLink } from '../frame-link.ts';
import { FrameSocket } from '../frame-socket.ts';
import type { OpenJournal } from './journal.ts';

/** Where hubs find an agent. */
export interface Listener {
  /** 0 where it listens on no port. */
  readonly port: number;
  /** For people. */
  readonly where: string;
  /** Whether it works for a hub: where several agents share a name, the next hub gets another one. */
  setBusy(isBusy: boolean): void;
  /** Keeps the agent's outbox, where that is not in its workspace. */
  readonly openJournal?: OpenJournal;
  close(): Promise<void>;
}

export interface Hearer {
  accept(link: FrameLink): void;
  /** It listens on, but something is wrong. */
  fault(message: string): void;
}

/** @throws MeshError `io` when it cannot listen there */
export type Listen = (hearer: Hearer) => Promise<Listener>;

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
