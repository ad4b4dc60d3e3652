import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import * as z from 'zod';

/** Bytes of one connection so far. */
export interface SocketBytes {
  /** Bytes that the operating system took and gave. */
  readonly rawSent: number;
  readonly rawReceived: number;
  /** Bytes without those of TLS: equal to `raw` where there is none. */
  readonly clearSent: number;
  readonly clearReceived: number;
}

/**
 * A handle of Node's, which counts in C++ for all readers and writers: a socket's own `bytesRead` and
 * `bytesWritten` miss what HTTP/2 moves past it. Node documents neither the handle nor that TLS puts one on
 * top of another, so they are parsed like foreign data.
 */
const countersSchema = z.object({ bytesRead: z.number(), bytesWritten: z.number() });
const handleSchema = countersSchema.extend({ _parent: countersSchema.optional() }).nullish();

/** Reads the handle by its name, because HTTP/2's view of a socket does not list its properties. */
const readHandle = (socket: Socket) => handleSchema.parse(Reflect.get(socket, '_handle'));

interface Count {
  readonly sent: number;
  readonly received: number;
}

const NONE: Count = { sent: 0, received: 0 };

/** Reads the counters of a connection's handles. The counters vanish with the handles, so the last values are kept. */
export class HandleCounters {
  readonly #socket: Socket;
  /** Socket that carries the clear bytes: `socket` itself, the one given to {@link clearIn}, or nothing yet. */
  #clearSocket: Socket | undefined;
  #raw = NONE;
  #clear = NONE;

  /**
   * @param socket the dialled or accepted socket
   * @param isTlsServer true if nothing is in the clear before the handshake is over, and then on another
   * socket
   */
  constructor(socket: Socket, isTlsServer: boolean) {
    this.#socket = socket;
    this.#clearSocket = isTlsServer ? undefined : socket;
    this.#keepAtTheEnd(socket);
  }

  /** Sets the socket that TLS put on top of the connection: all bytes counted as clear so far belonged to TLS. */
  clearIn(socket: Socket): void {
    this.#clearSocket = socket;
    this.#clear = NONE;
    this.#keepAtTheEnd(socket);
  }

  get bytes(): SocketBytes {
    const own = readHandle(this.#socket);
    // A TLS client's connection is one socket, whose handle lies on top of the operating system's.
    this.#raw = keepLarger(this.#raw, this.#socket instanceof TLSSocket ? own?._parent : own);
    if (this.#clearSocket !== undefined) this.#clear = keepLarger(this.#clear, readHandle(this.#clearSocket));
    return {
      rawSent: this.#raw.sent,
      rawReceived: this.#raw.received,
      clearSent: this.#clear.sent,
      clearReceived: this.#clear.received,
    };
  }

  #keepAtTheEnd(socket: Socket): void {
    const destroy = socket._destroy;
    socket._destroy = (error, callback) => {
      this.bytes;
      // HTTP/2's view of a socket vanishes with its session; the socket may live a little longer.
      if (socket === this.#clearSocket && socket !== this.#socket) this.#clearSocket = undefined;
      destroy.call(socket, error, callback);
    };
  }
}

/** Keeps the last counts, as a closed handle counts 0. */
function keepLarger(last: Count, handle: z.infer<typeof countersSchema> | null | undefined): Count {
  return {
    sent: Math.max(last.sent, handle?.bytesWritten ?? 0),
    received: Math.max(last.received, handle?.bytesRead ?? 0),
  };
}
