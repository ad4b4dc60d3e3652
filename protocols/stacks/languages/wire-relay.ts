import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import type { DirectionBytes, WireBytes } from '../contract/stack.ts';
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
 * Opens a forwarder before a server of another language that counts for it: the bytes of all connections, and among them
 * the messages. Times are measured without it.
 */
export async function openWireRelay(carrier: 'http1' | 'http2') {
  const [sent, received] = [new Direction(), new Direction()];
  const counts = { connections: 0, closed: 0 };
  const forwarder = await Forwarder.listen((client, server, connect) => {
    connect();
    counts.connections += 1;
    client.once('close', () => {
      counts.closed += 1;
    });
    for (const [from, to, count] of [
      [client, server, received],
      [server, client, sent],
    ] as const) {
      const split = createMessageSplitter(carrier, count);
      from.on('data', (chunk: Buffer) => {
        count.raw += chunk.length;
        split(chunk);
      });
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  /** Counts the bytes of the server's side so far. */
  const count = (): WireBytes => ({ ...counts, sent: sent.lines, received: received.lines });
  return { forwarder, count };
}
