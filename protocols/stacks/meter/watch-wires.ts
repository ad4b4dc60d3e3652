import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest, IncomingMessage, type OutgoingMessage, ServerResponse } from 'node:http';
import type { Http2Stream } from 'node:http2';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket, Server as TlsServer } from 'node:tls';
import { type BodyCounter, createBodyCounter, detectBodyFormat, type MessageCount } from './body-counter.ts';
import { tapReads, tapWrites, toBytes } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

let isWatching = false;

/**
 * Subscribes the meters of this process to Node's reports. One call is enough, and it costs nothing where no
 * meter counts.
 */
export function watchWires(): void {
  if (isWatching) return;
  isWatching = true;
  watchSockets();
  watchHttp();
  watchHttp2();
  watchFetch();
}

/** TLS servers that report their sockets already. */
const watched = new WeakSet<TlsServer>();

/** Reports every socket of this process, and the pipes of its children, to meters. */
function watchSockets(): void {
  subscribe('net.client.socket', (message) => {
    const socket = findSocket(message);
    if (socket !== undefined) WireMeter.current?.add(socket);
  });
  watchSecuredSockets();
  subscribe('net.server.socket', (message) => {
    const socket = findSocket(message);
    if (socket !== undefined) accepted(socket);
  });
  subscribe('child_process', (message) => {
    const child = readField(message, 'process');
    const meter = WireMeter.current;
    if (!(child instanceof ChildProcess) || meter === undefined) return;
    child.once('spawn', () => {
      const { stdin, stdout } = child;
      if (stdin instanceof Socket && stdout instanceof Socket) meter.addPipes(stdout, stdin);
    });
  });
}

/**
 * Reports TLS that a client puts on a connection it has dialled before, as `@grpc/grpc-js` does. Node has no
 * channel for it, and what rides on it may carry nothing for a while.
 */
function watchSecuredSockets(): void {
  const { prototype } = TLSSocket;
  const init: unknown = Reflect.get(prototype, '_init');
  if (typeof init !== 'function') throw new Error('this version of Node makes TLS sockets in another way');
  Reflect.set(prototype, '_init', function (this: TLSSocket, ...args: unknown[]) {
    Reflect.apply(init, this, args);
    WireMeter.of(this);
  });
}

function accepted(socket: Socket): void {
  const meter = WireMeter.current;
  // Node reports a socket after its server has seen it, so a stack that counts by itself has done so already.
  if (meter === undefined || WireMeter.of(socket) !== undefined) return;
  const server: unknown = Reflect.get(socket, 'server');
  if (!(server instanceof TlsServer)) {
    meter.add(socket);
    return;
  }
  // A secured socket lies on top of the accepted one.
  if (!watched.has(server)) server.on('secureConnection', (secured) => void WireMeter.of(secured));
  watched.add(server);
  meter.add(socket, true);
}

function findSocket(message: unknown): Socket | undefined {
  const socket = readField(message, 'socket');
  return socket instanceof Socket ? socket : undefined;
}

/**
 * Shows meters the bodies of Node's own HTTP in this process, at both ends, without the chunks into which
 * they may be cut.
 */
function watchHttp(): void {
  subscribe('http.server.request.start', (message) => {
    const request = readField(message, 'request');
    const response = readField(message, 'response');
    if (!(request instanceof IncomingMessage && response instanceof ServerResponse)) return;
    const meter = WireMeter.of(request.socket);
    if (meter === undefined) return;
    tapReads(request, createBodyCounter(detectBodyFormat(request.headers['content-type']), meter.in));
    tapMessage(response, () => {
      return hasNoBody(response)
        ? undefined
        : createBodyCounter(detectBodyFormat(readContentType(response)), meter.out);
    });
  });
  subscribe('http.client.request.created', (message) => {
    const request = readField(message, 'request');
    if (!(request instanceof ClientRequest)) return;
    // The request's socket is known only when one is free.
    const count = new HeldCount();
    tapMessage(request, () => createBodyCounter('whole', count));
    request.once('socket', (socket) => count.passTo(WireMeter.of(socket)?.out));
  });
  subscribe('http.client.response.finish', (message) => {
    const response = readField(message, 'response');
    if (!(response instanceof IncomingMessage)) return;
    const meter = WireMeter.of(response.socket);
    if (meter === undefined) return;
    tapReads(response, createBodyCounter(detectBodyFormat(response.headers['content-type']), meter.in));
  });
}

/** Returns true for a response that drops its body. */
function hasNoBody({ req, statusCode }: ServerResponse): boolean {
  return req.method === 'HEAD' || statusCode === 204 || statusCode === 304;
}

/** Shows the data written to `message` to a counter; `open` is called with the first piece, when the head is written. */
function tapMessage(message: OutgoingMessage, open: () => BodyCounter | undefined): void {
  let counter: BodyCounter | undefined;
  for (const name of ['write', 'end'] as const) {
    const method = message[name];
    Reflect.set(message, name, (...args: unknown[]) => {
      const result: unknown = Reflect.apply(method, message, args);
      const bytes = toBytes(args[0], args[1]);
      if (bytes !== undefined && bytes.length > 0) {
        counter ??= open();
        counter?.(bytes);
      }
      return result;
    });
  }
}

/** Reads the content type, also from a head that was given to `writeHead`, which `getHeader` does not know. */
function readContentType(message: OutgoingMessage): string | undefined {
  const head: unknown = Reflect.get(message, '_header');
  return typeof head === 'string' ? /\r\ncontent-type: *([^\r]*)/i.exec(head)?.[1] : undefined;
}

/** Holds counts until their meter is known. */
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

  /** Passes the counts on; without `to` they are dropped. */
  passTo(to: MessageCount | undefined): void {
    to?.add(this.#bytes, this.#messages);
    this.#to = to;
  }
}

/**
 * Shows meters what HTTP/2 streams of this process carry in DATA frames, at both ends; for gRPC, the messages
 * behind its prefixes.
 */
function watchHttp2(): void {
  // Heads of the messages that are read, by stream.
  const heads = new WeakMap<object, unknown>();
  for (const side of ['client', 'server'] as const) {
    subscribe(`http2.${side}.stream.created`, (message) => {
      const stream = readField(message, 'stream');
      if (!isHttp2Stream(stream) || stream.session === undefined) return;
      const meter = WireMeter.of(stream.session.socket);
      if (meter === undefined) return;
      if (side === 'server') heads.set(stream, readField(message, 'headers'));
      tapReads(
        stream,
        openOnFirstPiece(() => createBodyCounter(detectFormat(heads.get(stream)), meter.in)),
      );
      tapWrites(
        stream,
        openOnFirstPiece(() => createBodyCounter(detectFormat(stream.sentHeaders), meter.out)),
      );
    });
  }
  subscribe('http2.client.stream.finish', (message) => {
    const stream = readField(message, 'stream');
    if (isHttp2Stream(stream)) heads.set(stream, readField(message, 'headers'));
  });
}

/** Creates a counter that opens with the first piece, since heads come before it. */
function openOnFirstPiece(open: () => BodyCounter): BodyCounter {
  let counter: BodyCounter | undefined;
  return (chunk) => {
    counter ??= open();
    counter(chunk);
  };
}

function detectFormat(headers: unknown) {
  const type = readField(headers, 'content-type');
  return detectBodyFormat(typeof type === 'string' ? type : undefined);
}

/** Returns true for an HTTP/2 stream, for which Node exports a type but no class. */
function isHttp2Stream(value: unknown): value is Http2Stream {
  return value instanceof Duplex && 'sentHeaders' in value && 'session' in value;
}

/** Counters for the bodies of a request and of its answer. */
interface Counters {
  readonly meter: WireMeter;
  readonly sent: BodyCounter;
  received: BodyCounter;
}

/** Shows meters the bodies of `fetch`, Node's own and that of the package `undici`, which use the same channel names. */
function watchFetch(): void {
  const exchanges = new WeakMap<object, Counters>();
  const of = (message: unknown) => {
    const request = readField(message, 'request');
    return typeof request === 'object' && request !== null ? exchanges.get(request) : undefined;
  };
  subscribe('undici:client:sendHeaders', (message) => {
    const request = readField(message, 'request');
    const socket = readField(message, 'socket');
    if (typeof request !== 'object' || request === null) return;
    // HTTP/2 is Node's here, too, and is counted there.
    if (!(socket instanceof Socket) || readField(socket, 'alpnProtocol') === 'h2') return;
    const meter = WireMeter.of(socket);
    if (meter === undefined) return;
    exchanges.set(request, {
      meter,
      sent: createBodyCounter('whole', meter.out),
      received: createBodyCounter('whole', meter.in),
    });
  });
  subscribe('undici:request:headers', (message) => {
    const counters = of(message);
    if (counters === undefined) return;
    const type = findContentType(readField(readField(message, 'response'), 'headers'));
    counters.received = createBodyCounter(detectBodyFormat(type), counters.meter.in);
  });
  subscribe('undici:request:bodyChunkSent', (message) => {
    const chunk = toBytes(readField(message, 'chunk'), 'utf8');
    if (chunk !== undefined) of(message)?.sent(chunk);
  });
  subscribe('undici:request:bodyChunkReceived', (message) => {
    const chunk = toBytes(readField(message, 'chunk'), 'utf8');
    if (chunk !== undefined) of(message)?.received(chunk);
  });
}

/** Finds the content type in a list in which names and values alternate. */
function findContentType(headers: unknown): string | undefined {
  if (!Array.isArray(headers)) return undefined;
  const at = headers.findIndex((text, i) => i % 2 === 0 && String(text).toLowerCase() === 'content-type');
  return at === -1 ? undefined : String(headers[at + 1]);
}

/** Returns the field `name` of a message of Node's diagnostics channels, for which Node promises no types. */
function readField(message: unknown, name: string): unknown {
  return typeof message === 'object' && message !== null ? Reflect.get(message, name) : undefined;
}
