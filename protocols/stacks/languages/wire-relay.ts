import net, { type Socket } from 'node:net';
import type { DirectionBytes, WireBytes } from '../contract/stack.ts';
import { listenOnPlace, trackConnections } from '../listen.ts';
import { createMessageSplitter } from './message-splitter.ts';

/** Bytes and messages of one direction; all that is not a message is head. */
class Direction {
  raw = 0;
  #body = 0;
  #messages = 0;

  add(bytes: number, messages: number): void {
    this.#body += bytes;
    this.#messages += messages;
  }

  get lines(): DirectionBytes {
    const head = this.raw - this.#body;
    return { raw: this.raw, tls: 0, head, body: this.#body, messages: this.#messages };
  }
}

/**
 * A forwarder before a server of another language that counts for it: the bytes of all connections, and among them the
 * messages. Times are measured without it.
 */
export class WireRelay {
  readonly port: number;
  /** Closes the relay and all its connections. */
  readonly close: () => Promise<void>;
  readonly #carrier: 'http1' | 'http2';
  readonly #sent = new Direction();
  readonly #received = new Direction();
  #connections = 0;
  #closed = 0;
  #target = 0;

  private constructor(server: net.Server, port: number, carrier: 'http1' | 'http2') {
    this.port = port;
    this.#carrier = carrier;
    this.close = trackConnections(server);
    server.on('connection', (client) => this.#forward(client));
  }

  static async listen(carrier: 'http1' | 'http2'): Promise<WireRelay> {
    const server = net.createServer({ allowHalfOpen: true, noDelay: true });
    return new WireRelay(server, await listenOnPlace(server, { port: 0 }), carrier);
  }

  /** Sets the port of the server, before a client knows the relay's. */
  forwardTo(port: number): void {
    this.#target = port;
  }

  /** Bytes of the server's side so far. */
  get bytes(): WireBytes {
    return {
      connections: this.#connections,
      closed: this.#closed,
      sent: this.#sent.lines,
      received: this.#received.lines,
    };
  }

  #forward(client: Socket): void {
    const server = net.connect({ host: '127.0.0.1', port: this.#target, allowHalfOpen: true, noDelay: true });
    this.#connections += 1;
    client.once('close', () => {
      this.#closed += 1;
    });
    for (const [from, to, count] of [
      [client, server, this.#received],
      [server, client, this.#sent],
    ] as const) {
      const split = createMessageSplitter(this.#carrier, count);
      from.on('data', (chunk: Buffer) => {
        count.raw += chunk.length;
        split(chunk);
      });
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  }
}
