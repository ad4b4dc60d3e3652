import { once } from 'node:events';
import net, { type Socket } from 'node:net';

/** Bytes that went through, as they came out of the sockets. */
export interface ProxyBytes {
  readonly connections: number;
  /** From clients to the server. */
  readonly up: number;
  readonly down: number;
}

/** Where a proxy forwards to, or listens. */
export type Endpoint = { readonly port: number } | { readonly path: string };

/**
 * A forwarder between two processes that counts what it carries and looks at none of it: a witness of the meter that has nothing in
 * common with it.
 */
export class CountingProxy {
  readonly #server: net.Server;
  readonly #sockets = new Set<Socket>();
  #target: Endpoint | undefined;
  #bytes = { connections: 0, up: 0, down: 0 };

  /** Where it listens, if not on a port. */
  readonly path: string | undefined;

  private constructor(path: string | undefined) {
    this.path = path;
    this.#server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#forward(socket),
    );
  }

  /** Listens on a free port of the loopback, or at a path. */
  static async listen(at: Endpoint = { port: 0 }): Promise<CountingProxy> {
    const proxy = new CountingProxy('path' in at ? at.path : undefined);
    proxy.#server.listen('path' in at ? at : { ...at, host: '127.0.0.1' });
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** undefined for one at a path. */
  get tcpPort(): number | undefined {
    const address = this.#server.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** Of connections since the last call, {@link bytes} are counted. */
  forwardTo(target: Endpoint): void {
    this.#target = target;
    this.#bytes = { connections: 0, up: 0, down: 0 };
  }

  get bytes(): ProxyBytes {
    return { ...this.#bytes };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(client: Socket): void {
    if (this.#target === undefined) {
      client.destroy();
      return;
    }
    const where = 'path' in this.#target ? this.#target : { ...this.#target, host: '127.0.0.1' };
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
      this.#sockets.add(own);
      own.on('error', () => other.destroy());
      own.on('close', () => {
        this.#sockets.delete(own);
        other.destroy();
      });
    }
  }
}
