import { once } from 'node:events';
import net, { type Server, type Socket } from 'node:net';
import { readSystemCode } from '../../contracts/errors.ts';

const HOST = '127.0.0.1';

/**
 * Passes on what a client and its server say. The server is connected to when `connect` is called; what is written to it
 * before that fails.
 */
type Pass = (client: Socket, server: Socket, connect: () => void) => void;

/** A forwarder from a port of the loopback to another one, with `pass` between the two connections. */
export class Forwarder {
  readonly port: number;
  /** Closes the forwarder and the connections of all clients. */
  readonly close: () => Promise<void>;
  readonly #pass: Pass;
  #target = 0;
  #ahead: Socket | undefined;

  private constructor(server: Server, port: number, pass: Pass) {
    this.port = port;
    this.#pass = pass;
    this.close = trackConnections(server);
    server.on('connection', (client) => this.#forward(client));
  }

  static async listen(pass: Pass): Promise<Forwarder> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ host: HOST, port: 0 });
    await once(server, 'listening');
    const address = server.address();
    return new Forwarder(server, typeof address === 'object' ? (address?.port ?? 0) : 0, pass);
  }

  /** Sets the port of the server, before a client knows the forwarder's. */
  forwardTo(port: number): void {
    this.#target = port;
  }

  /** Connects to the server for the next client; returns false if nothing listens there. */
  async connectAhead(): Promise<boolean> {
    const server = createSocket();
    this.#connect(server);
    try {
      await once(server, 'connect');
    } catch (error) {
      if (readSystemCode(error) === 'ECONNREFUSED') return false;
      throw error;
    }
    this.#ahead?.destroy();
    this.#ahead = server;
    return true;
  }

  #forward(client: Socket): void {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) this.#pass(client, ahead, () => undefined);
    else {
      const server = createSocket();
      this.#pass(client, server, () => this.#connect(server));
    }
  }

  #connect(server: Socket): void {
    server.connect({ host: HOST, port: this.#target });
  }
}

function createSocket(): Socket {
  // A connection that waits for its client may end.
  return new net.Socket({ allowHalfOpen: true }).setNoDelay(true).on('error', () => undefined);
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
