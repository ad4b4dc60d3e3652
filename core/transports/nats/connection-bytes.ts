import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import net from 'node:net';

/** Where Node tells of every socket that this process opens; see `diagnostics_channel` in its documentation. */
const NEW_SOCKETS = 'net.client.socket';

/**
 * What this process's connections to one port carry, as their sockets count it: the client of a server does not show its socket, and
 * counts payloads alone.
 */
export class ConnectionBytes {
  readonly #port: number;
  readonly #sockets: net.Socket[] = [];
  readonly #watch = (message: unknown) => {
    const socket = findMessageSocket(message);
    socket?.once('connect', () => {
      if (socket.remotePort === this.#port) this.#sockets.push(socket);
    });
  };

  constructor(port: number) {
    this.#port = port;
    subscribe(NEW_SOCKETS, this.#watch);
  }

  /** Bytes until now, of lost connections, too. */
  get total(): { readonly written: number; readonly read: number } {
    return {
      written: this.#sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      read: this.#sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    };
  }

  /** No further connection is counted. */
  end(): void {
    unsubscribe(NEW_SOCKETS, this.#watch);
  }
}

function findMessageSocket(message: unknown): net.Socket | undefined {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return undefined;
  return message.socket instanceof net.Socket ? message.socket : undefined;
}
