import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import * as z from 'zod';
import type { DirectionBytes, WireBytes } from '../contract/wire-sum.ts';
import { createBodyCounter, type MessageCount } from './body-counter.ts';
import { tapReads, tapWrites } from './tap.ts';

const current = new AsyncLocalStorage<WireMeter>();

interface Count {
  readonly sent: number;
  readonly received: number;
}

const NONE: Count = { sent: 0, received: 0 };

/** Bytes of one connection so far. */
interface SocketBytes {
  /** Bytes that the operating system took and gave. */
  readonly raw: Count;
  /** Bytes without those of TLS: equal to `raw` where there is none. */
  readonly clear: Count;
}

interface Counted {
  readonly meter: WireMeter;
  readonly counters: HandleCounters;
}

/**
 * Key of a socket's property that holds its meter. It is a property because HTTP/2 shows its sockets through
 * a proxy, which passes on nothing else.
 */
const COUNTED = Symbol('counted');

function findCounted(socket: object): Counted | undefined {
  const counted: unknown = Reflect.get(socket, COUNTED);
  return isCounted(counted) ? counted : undefined;
}

function isCounted(value: unknown): value is Counted {
  return typeof value === 'object' && value !== null && 'meter' in value && value.meter instanceof WireMeter;
}

/**
 * Counts the bytes of one side of a stack, whatever code owns its sockets. Each line is measured as follows:
 *
 * - **Sockets.** The meter counts the sockets that code under {@link run} dials or accepts, at any later time and
 *   in any package: Node reports each one (`watch-wires.ts`) in the context that asked for it.
 * - **raw** comes from the counters of the operating system's handles. **tls** is the difference between these and
 *   the counters of the TLS handles on top of them.
 * - **body.** Node's HTTP, HTTP/2 and `fetch` show each piece of a body; the code that writes and reads other
 *   frames reports its messages ({@link sent}, {@link received}).
 * - **head** is the rest of the bytes in the clear.
 *
 * The counts are exact whenever nothing is under way: a body is counted when it is handed over, its bytes when the
 * handle takes them.
 */
export class WireMeter {
  readonly #open = new Set<HandleCounters>();
  #ended: SocketBytes = { raw: NONE, clear: NONE };
  #connections = 0;
  #closed = 0;
  readonly #out = new Messages();
  readonly #in = new Messages();

  /** Returns the meter in whose {@link run} this code was started. */
  static get current(): WireMeter | undefined {
    return current.getStore();
  }

  /**
   * Returns the meter that counts `socket`. It also finds TLS on top of a connection that was dialled or
   * accepted before: Node reports the lower socket alone, and calls it the parent of the upper one.
   */
  static of(socket: Socket): WireMeter | undefined {
    const own = findCounted(socket);
    if (own !== undefined) return own.meter;
    const parent: unknown = Reflect.get(socket, '_parent');
    const below = typeof parent === 'object' && parent !== null ? findCounted(parent) : undefined;
    if (below === undefined) return undefined;
    Reflect.set(socket, COUNTED, below);
    below.counters.clearIn(socket);
    return below.meter;
  }

  /** Calls `work` and counts the sockets that it opens, also later. */
  run<Result>(work: () => Result): Result {
    return current.run(this, work);
  }

  /** Calls `work`, which is not part of a stack: its sockets are not counted. */
  static exit<Result>(work: () => Result): Result {
    return current.exit(work);
  }

  /** Counts a sent message, for transports whose frames Node does not know. */
  sent(bytes: number): void {
    this.#out.add(bytes, 1);
  }

  /** Counts a received message, like {@link sent}. */
  received(bytes: number): void {
    this.#in.add(bytes, 1);
  }

  /** Counter of sent messages, for code that sees bodies pass in pieces. */
  get out(): MessageCount {
    return this.#out;
  }

  get in(): MessageCount {
    return this.#in;
  }

  /**
   * Adds a connection.
   *
   * @param isTlsServer true if nothing is in the clear before the handshake is over, and then on another socket
   */
  add(socket: Socket, isTlsServer = false): void {
    this.#addSocket(socket, isTlsServer);
    this.#connections += 1;
    socket.once('close', () => {
      this.#closed += 1;
    });
  }

  /**
   * Adds a pair of pipes as one connection, on which each line is a message. A second call for the same pipes
   * changes nothing.
   */
  addPipes(readable: Socket, writable: Socket): void {
    if (WireMeter.of(writable) !== undefined) return;
    this.add(writable);
    if (readable !== writable) this.#addSocket(readable, false);
    tapReads(readable, createBodyCounter('lines', this.in));
    tapWrites(writable, createBodyCounter('lines', this.out));
  }

  #addSocket(socket: Socket, isTlsServer: boolean): void {
    const counters = new HandleCounters(socket, isTlsServer);
    const counted: Counted = { meter: this, counters };
    Reflect.set(socket, COUNTED, counted);
    this.#open.add(counters);
    socket.once('close', () => {
      this.#ended = addSocketBytes(this.#ended, counters.bytes);
      this.#open.delete(counters);
    });
  }

  /** Bytes so far, as the stack's `wire()` returns them. */
  get bytes(): WireBytes {
    let sum = this.#ended;
    for (const counters of this.#open) sum = addSocketBytes(sum, counters.bytes);
    return {
      connections: this.#connections,
      closed: this.#closed,
      sent: splitDirection(sum.raw.sent, sum.clear.sent, this.#out),
      received: splitDirection(sum.raw.received, sum.clear.received, this.#in),
    };
  }
}

class Messages implements MessageCount {
  bytes = 0;
  messages = 0;

  add(bytes: number, messages: number): void {
    this.bytes += bytes;
    this.messages += messages;
  }
}

function splitDirection(raw: number, clear: number, { bytes, messages }: Messages): DirectionBytes {
  return { raw, tls: raw - clear, head: clear - bytes, body: bytes, messages };
}

function addSocketBytes(a: SocketBytes, b: SocketBytes): SocketBytes {
  return { raw: addCounts(a.raw, b.raw), clear: addCounts(a.clear, b.clear) };
}

function addCounts(a: Count, b: Count): Count {
  return { sent: a.sent + b.sent, received: a.received + b.received };
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

/** Reads the counters of a connection's handles. The counters vanish with the handles, so the last values are kept. */
class HandleCounters {
  readonly #socket: Socket;
  /** Socket that carries the clear bytes: `socket` itself, the one given to {@link clearIn}, or nothing yet. */
  #clearSocket: Socket | undefined;
  #raw = NONE;
  #clear = NONE;

  /** @param socket the dialled or accepted socket */
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
    return { raw: this.#raw, clear: this.#clear };
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
