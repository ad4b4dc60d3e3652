import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import * as z from 'zod';

/** Bytes of one connection so far. */
export interface SocketBytes {
  /** What the operating system took and gave. */
  readonly rawSent: number;
  readonly rawReceived: number;
  /** The same without TLS: equal to `raw` where there is none. */
  readonly clearSent: number;
  readonly clearReceived: number;
}

/**
 * A handle of Node's, which counts in C++ whoever reads and writes: a socket's own `bytesRead` and `bytesWritten` miss what HTTP/2
 * moves past it. Node documents neither the handle nor that TLS puts one on top of another, so they are parsed like foreign data.
 */
const countersSchema = z.object({ bytesRead: z.number(), bytesWritten: z.number() });
const handleSchema = countersSchema.extend({ _parent: countersSchema.optional() }).nullish();

/** Asked for by name: what HTTP/2 shows of a socket does not say which names it has. */
const readHandle = (socket: Socket) => handleSchema.parse(Reflect.get(socket, '_handle'));

interface Count {
  readonly sent: number;
  readonly received: number;
}

const NONE: Count = { sent: 0, received: 0 };

/** Reads what the handles of a connection have counted. The counters are gone with the handles, so the last ones are kept. */
export class HandleCounters {
  readonly #socket: Socket;
  /** What lies on top in the clear: `socket` itself, what {@link clearIn} was told, or nothing yet. */
  #clearSocket: Socket | undefined;
  #raw = NONE;
  #clear = NONE;

  /**
   * @param socket what was dialled or accepted
   * @param isTlsServer nothing is in the clear before the handshake is over, and then on another socket
   */
  constructor(socket: Socket, isTlsServer: boolean) {
    this.#socket = socket;
    this.#clearSocket = isTlsServer ? undefined : socket;
    this.#keepAtTheEnd(socket);
  }

  /** TLS was put on top of the connection: all that was counted as clear so far belonged to it. */
  clearIn(socket: Socket): void {
    this.#clearSocket = socket;
    this.#clear = NONE;
    this.#keepAtTheEnd(socket);
  }

  get bytes(): SocketBytes {
    const own = readHandle(this.#socket);
    // A TLS client that dials is one socket, whose handle lies on top of that of the operating system.
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
      // What HTTP/2 shows of a socket is gone with its session; the socket may live a little longer.
      if (socket === this.#clearSocket && socket !== this.#socket) this.#clearSocket = undefined;
      destroy.call(socket, error, callback);
    };
  }
}

/** A handle that was closed counts 0. */
function keepLarger(last: Count, handle: z.infer<typeof countersSchema> | null | undefined): Count {
  return {
    sent: Math.max(last.sent, handle?.bytesWritten ?? 0),
    received: Math.max(last.received, handle?.bytesRead ?? 0),
  };
}
