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
const socketSchema = z.object({
  _handle: countersSchema.extend({ _parent: countersSchema.optional() }).nullish(),
});

const NONE: SocketBytes = { rawSent: 0, rawReceived: 0, clearSent: 0, clearReceived: 0 };

/** Reads what the handles of a connection have counted. The counters are gone with the handles, so the last ones are kept. */
export class HandleCounters {
  readonly #socket: Socket;
  readonly #clearSocket: () => Socket | undefined;
  #last = NONE;

  /**
   * @param socket what was dialled or accepted
   * @param clearSocket where it is read and written in the clear: another one at a TLS server, which is not there before the handshake
   */
  constructor(socket: Socket, clearSocket: () => Socket | undefined = () => socket) {
    this.#socket = socket;
    this.#clearSocket = clearSocket;
  }

  get bytes(): SocketBytes {
    const own = socketSchema.parse(this.#socket)._handle;
    // A TLS client is one socket whose handle lies on top of that of the operating system.
    const raw = this.#socket instanceof TLSSocket ? own?._parent : own;
    const clearSocket = this.#clearSocket();
    const clear = clearSocket === undefined ? undefined : socketSchema.parse(clearSocket)._handle;
    const last = this.#last;
    // A handle that was closed counts 0.
    this.#last = {
      rawSent: Math.max(last.rawSent, raw?.bytesWritten ?? 0),
      rawReceived: Math.max(last.rawReceived, raw?.bytesRead ?? 0),
      clearSent: Math.max(last.clearSent, clear?.bytesWritten ?? 0),
      clearReceived: Math.max(last.clearReceived, clear?.bytesRead ?? 0),
    };
    return this.#last;
  }
}

/** Takes the counters of `socket` a last time before its handle is closed. */
export function keepAtTheEnd(socket: Socket, counters: HandleCounters): void {
  const destroy = socket._destroy;
  socket._destroy = (error, callback) => {
    counters.bytes;
    destroy.call(socket, error, callback);
  };
}
