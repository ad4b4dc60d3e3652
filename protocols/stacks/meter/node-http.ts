import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest, IncomingMessage, type OutgoingMessage, ServerResponse } from 'node:http';
import { type BodyCounter, bodyCounter, formatOf, type MessageCount } from './body-counter.ts';
import { bytesOf, fieldOf, tapReads } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** Has meters see the bodies of Node's own HTTP in this process, at both ends, without the chunks that they may be cut into. */
export function watchHttp(): void {
  subscribe('http.server.request.start', (message) => {
    const request = fieldOf(message, 'request');
    const response = fieldOf(message, 'response');
    if (!(request instanceof IncomingMessage && response instanceof ServerResponse)) return;
    const meter = WireMeter.of(request.socket);
    if (meter === undefined) return;
    tapReads(request, bodyCounter(formatOf(request.headers['content-type']), meter.in));
    tapMessage(response, () => {
      return hasNoBody(response) ? undefined : bodyCounter(formatOf(contentTypeOf(response)), meter.out);
    });
  });
  subscribe('http.client.request.created', (message) => {
    const request = fieldOf(message, 'request');
    if (!(request instanceof ClientRequest)) return;
    // Which socket it is to have is known when one is free.
    const count = new HeldCount();
    tapMessage(request, () => bodyCounter('whole', count));
    request.once('socket', (socket) => count.passTo(WireMeter.of(socket)?.out));
  });
  subscribe('http.client.response.finish', (message) => {
    const response = fieldOf(message, 'response');
    if (!(response instanceof IncomingMessage)) return;
    const meter = WireMeter.of(response.socket);
    if (meter === undefined) return;
    tapReads(response, bodyCounter(formatOf(response.headers['content-type']), meter.in));
  });
}

/** Such a response drops what is written to it. */
function hasNoBody({ req, statusCode }: ServerResponse): boolean {
  return req.method === 'HEAD' || statusCode === 204 || statusCode === 304;
}

/** Sees what is written to `message`; `open` is called with the first piece, when the head is written. */
function tapMessage(message: OutgoingMessage, open: () => BodyCounter | undefined): void {
  let counter: BodyCounter | undefined;
  for (const name of ['write', 'end'] as const) {
    const method = message[name];
    Reflect.set(message, name, (...args: unknown[]) => {
      const result: unknown = Reflect.apply(method, message, args);
      const bytes = bytesOf(args[0], args[1]);
      if (bytes !== undefined && bytes.length > 0) {
        counter ??= open();
        counter?.(bytes);
      }
      return result;
    });
  }
}

/** Also of heads that were given to `writeHead`, which `getHeader` does not know. */
function contentTypeOf(message: OutgoingMessage): string | undefined {
  const head: unknown = Reflect.get(message, '_header');
  return typeof head === 'string' ? /\r\ncontent-type: *([^\r]*)/i.exec(head)?.[1] : undefined;
}

/** Holds what is counted until it is known for whom. */
class HeldCount implements MessageCount {
  #bytes = 0;
  #messages = 0;
  #to: MessageCount | undefined;

  add(bytes: number, messages: number): void {
    if (this.#to === undefined) {
      this.#bytes += bytes;
      this.#messages += messages;
    } else {
      this.#to.add(bytes, messages);
    }
  }

  /** Without `to`, it was nobody's. */
  passTo(to: MessageCount | undefined): void {
    to?.add(this.#bytes, this.#messages);
    this.#to = to;
  }
}
