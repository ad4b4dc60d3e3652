import net, { type Socket } from 'node:net';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { type Endpoint, listenOnPlace } from '../listen.ts';

/** Bytes that went through, counted as they came out of the sockets. */
export interface ProxyBytes {
  readonly connections: number;
  /** Bytes from clients to the server. */
  readonly up: number;
  readonly down: number;
}

/**
 * A forwarder between two processes that counts the bytes it carries and parses none of them. It checks the
 * meter and shares no code with it.
 */
export class CountingProxy {
  /** Closes the proxy and all its connections. */
  readonly close: () => Promise<void>;
  /** Port on which the proxy listens, unless it listens at a path. */
  readonly tcpPort: number | undefined;
  readonly path: string | undefined;
  #target: Endpoint | undefined;
  #bytes = { connections: 0, up: 0, down: 0 };

  private constructor(server: net.Server, at: Endpoint, port: number) {
    this.path = 'path' in at ? at.path : undefined;
    this.tcpPort = 'path' in at ? undefined : port;
    this.close = trackConnections(server);
    server.on('connection', (socket) => this.#forward(socket));
  }

  /** Listens on a free port of the loopback, or at a path. */
  static async listen(at: Endpoint = { port: 0 }): Promise<CountingProxy> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true });
    // No client knows of the proxy before this returns.
    return new CountingProxy(server, at, await listenOnPlace(server, at));
  }

  /** Sets the target and resets {@link bytes}, which counts connections from this call on. */
  forwardTo(target: Endpoint): void {
    this.#target = target;
    this.#bytes = { connections: 0, up: 0, down: 0 };
  }

  get bytes(): ProxyBytes {
    return { ...this.#bytes };
  }

  #forward(client: Socket): void {
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    const where = 'path' in this.#target ? this.#target : { host: '127.0.0.1', ...this.#target };
    const server = net.connect({ ...where, allowHalfOpen: true, noDelay: true });
    const counters = this.#bytes;
    counters.connections += 1;
    client.on('data', ({ length }) => {
      counters.up += length;
    });
    server.on('data', ({ length }) => {
      counters.down += length;
    });
    client.pipe(server);
    server.pipe(client);
    for (const [own, other] of [
      [client, server],
      [server, client],
    ] as const) {
      own.on('error', () => other.destroy());
      own.on('close', () => other.destroy());
    }
  }
}
