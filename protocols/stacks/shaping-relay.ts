import net, { type Socket } from 'node:net';
import { listenOnPlace, trackConnections } from './listen.ts';

/** A network between two ends. */
export interface Network {
  /** Milliseconds to the other end and back. */
  readonly rttMs: number;
  /** Bits a second in each direction. */
  readonly bitsPerS: number;
}

/** Maximum bytes under way in a direction of a connection: more than the largest window of the usual systems. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
/** Milliseconds before a delivery from which short sleeps wait for it, because a timer may be a millisecond late. */
const SHORT_MS = 1.5;
const SLEEP_MS = 0.1;

interface Delivery {
  readonly atMs: number;
  readonly bytes: number;
  readonly deliver: () => void;
}

/** One direction of the network, which all connections share: what is sent waits for what was sent before it. */
class Link {
  readonly #network: Network;
  readonly #queue: Delivery[] = [];
  #freeAtMs = 0;
  #isRunning = false;

  constructor(network: Network) {
    this.#network = network;
  }

  /** Calls `deliver` when bytes that are sent now, or at `notBeforeMs`, have arrived. */
  send(bytes: number, notBeforeMs: number, deliver: () => void): void {
    const { rttMs, bitsPerS } = this.#network;
    const beginMs = Math.max(performance.now(), notBeforeMs, this.#freeAtMs);
    this.#freeAtMs = beginMs + (bytes * 8 * 1000) / bitsPerS;
    this.#queue.push({ atMs: this.#freeAtMs + rttMs / 2, bytes, deliver });
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await waitUntil(next.atMs);
      next.deliver();
    }
    this.#isRunning = false;
  }
}

async function waitUntil(atMs: number): Promise<void> {
  for (let leftMs = atMs - performance.now(); leftMs > 0; leftMs = atMs - performance.now()) {
    if (leftMs > SHORT_MS) {
      await new Promise((resolve) => setTimeout(resolve, leftMs - SHORT_MS));
    } else {
      Atomics.wait(nothing, 0, 0, Math.min(SLEEP_MS, leftMs));
      // In between other data is read.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

/**
 * A forwarder on the loopback that delays what passes and limits its rate, in both directions, as a network does. A
 * connection's first bytes wait for the round trip of its handshake. There is no loss, and no slow start: as if
 * connections had been in use.
 */
export class ShapingRelay {
  readonly port: number;
  /** Closes the relay and all its connections. */
  readonly close: () => Promise<void>;
  readonly #rttMs: number;
  readonly #up: Link;
  readonly #down: Link;
  #target = 0;
  #roundTrips = 0;

  private constructor(server: net.Server, port: number, network: Network) {
    this.port = port;
    this.#rttMs = network.rttMs;
    this.#up = new Link(network);
    this.#down = new Link(network);
    this.close = trackConnections(server);
    server.on('connection', (client) => this.#forward(client));
  }

  static async listen(network: Network): Promise<ShapingRelay> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true });
    return new ShapingRelay(server, await listenOnPlace(server, { port: 0 }), network);
  }

  /** Sets the port of the server, before a client knows the relay's. */
  forwardTo(port: number): void {
    this.#target = port;
  }

  /** Round trips so far: handshakes of TCP, and times at which a client spoke after its server had. */
  get roundTrips(): number {
    return this.#roundTrips;
  }

  #forward(client: Socket): void {
    const openMs = performance.now() + this.#rttMs;
    const server = net.connect({ host: '127.0.0.1', port: this.#target, allowHalfOpen: true, noDelay: true });
    this.#roundTrips += 1;
    let hasServerSpoken = true;
    client.on('data', () => {
      if (hasServerSpoken) this.#roundTrips += 1;
      hasServerSpoken = false;
    });
    server.on('data', () => {
      hasServerSpoken = true;
    });
    pass(client, server, this.#up, openMs);
    pass(server, client, this.#down, openMs);
  }
}

/** Passes everything from one socket to another over a link. */
function pass(from: Socket, to: Socket, link: Link, notBeforeMs: number): void {
  let queued = 0;
  from.on('data', (chunk: Buffer) => {
    queued += chunk.length;
    if (queued + to.writableLength > MAX_QUEUED_BYTES) from.pause();
    link.send(chunk.length, notBeforeMs, () => {
      queued -= chunk.length;
      if (!to.destroyed) to.write(chunk);
      if (queued + to.writableLength <= MAX_QUEUED_BYTES) from.resume();
    });
  });
  from.on('end', () => link.send(0, notBeforeMs, () => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => link.send(0, notBeforeMs, () => to.destroySoon()));
}
