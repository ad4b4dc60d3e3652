import type { Socket } from 'node:net';
import { NETWORK_LIMITS } from '../../contracts/limits.ts';
import { Forwarder } from '../tcp/forwarder.ts';
import { Line, type Network } from './network.ts';

interface Clock {
  now(): number;
  waitUntil(atMs: number): Promise<void>;
}

/** Milliseconds before a time from which short sleeps wait for it, because a timer may be a millisecond late. */
const SHORT_MS = 1.5;
const SLEEP_MS = 0.1;

const nothing = new Int32Array(new SharedArrayBuffer(4));

const realClock: Clock = {
  now: () => performance.now(),
  async waitUntil(atMs) {
    for (let leftMs = atMs - performance.now(); leftMs > 0; leftMs = atMs - performance.now()) {
      if (leftMs > SHORT_MS) {
        await new Promise((resolve) => setTimeout(resolve, leftMs - SHORT_MS));
      } else {
        Atomics.wait(nothing, 0, 0, Math.min(SLEEP_MS, leftMs));
        // In between other data is read.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  },
};

/** A line with what is under way on it. */
class Link {
  readonly #line: Line;
  readonly #clock: Clock;
  readonly #queue: { readonly atMs: number; readonly deliver: () => void }[] = [];
  #isRunning = false;

  constructor(network: Network, clock: Clock) {
    this.#line = new Line(network);
    this.#clock = clock;
  }

  /** Calls `deliver` when bytes that are sent now have arrived. */
  send(bytes: number, deliver: () => void): void {
    this.#queue.push({ atMs: this.#line.send(bytes, this.#clock.now()), deliver });
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#clock.waitUntil(next.atMs);
      next.deliver();
    }
    this.#isRunning = false;
  }
}

/**
 * Opens a forwarder that delays what passes and limits its rate, in both directions, as a network does: a client says
 * nothing before the round trip of its handshake, and its server hears of it half a round trip later. There is no loss,
 * and no slow start: as if connections had been in use.
 */
export async function openShapingRelay(network: Network, clock: Clock = realClock) {
  const [up, down] = [new Link(network, clock), new Link(network, clock)];
  let roundTrips = 0;
  const forwarder = await Forwarder.listen((client, server, connect) => {
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
    roundTrips += 1;
    let hasServerSpoken = true;
    void clock.waitUntil(clock.now() + network.rttMs).then(() => {
      up.send(0, () => {
        // A destroyed connection would be opened again.
        if (client.destroyed) return server.destroy();
        connect();
        pass(server, client, down, {
          arrived() {
            hasServerSpoken = true;
          },
        });
      });
      pass(client, server, up, {
        sent() {
          if (hasServerSpoken) roundTrips += 1;
          hasServerSpoken = false;
        },
      });
    });
  });
  /** Counts the round trips so far: handshakes of TCP, and times at which a client spoke after its server had. */
  const countRoundTrips = () => roundTrips;
  return { forwarder, countRoundTrips };
}

/** Passes everything from one socket to another over a link. */
function pass(
  from: Socket,
  to: Socket,
  link: Link,
  { sent, arrived }: { readonly sent?: () => void; readonly arrived?: () => void },
): void {
  let queued = 0;
  const resume = () => {
    if (queued + to.writableLength <= NETWORK_LIMITS.queuedBytes) from.resume();
  };
  from.on('data', (chunk: Buffer) => {
    sent?.();
    queued += chunk.length;
    if (queued + to.writableLength > NETWORK_LIMITS.queuedBytes) from.pause();
    link.send(chunk.length, () => {
      arrived?.();
      queued -= chunk.length;
      if (!to.destroyed) to.write(chunk);
      resume();
    });
  });
  to.on('drain', resume);
  from.on('end', () => link.send(0, () => to.end()));
  from.on('close', () => link.send(0, () => to.destroySoon()));
}
