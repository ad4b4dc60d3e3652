import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { messageOf } from '../../../core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../../core/contracts/limits.ts';
import type { Certificate } from '../../../protocols/bindings/tls/self-signed.ts';
import type { Answer } from './http-binding.ts';

/** Bytes from the client and from the server. */
export interface Bytes {
  readonly up: number;
  readonly down: number;
}

/** What went over the connections of a server, as its sockets counted it. */
export interface Traffic {
  readonly requests: number;
  readonly connections: number;
  /** On TCP; with TLS that is handshakes and records. */
  readonly wire: Bytes;
  /** HTTP, head and body; the same as `wire` without TLS. */
  readonly http: Bytes;
  readonly bodies: Bytes;
}

/** An HTTP server on the loopback that knows how many bytes its answers and their questions took. */
export class CountingServer {
  readonly #server: http.Server;
  readonly #scheme: string;
  /** TCP sockets, and what is read from and written to them in the clear: the same ones without TLS. */
  readonly #wires: Socket[] = [];
  readonly #clears: Socket[] = [];
  #bodies: Bytes = { up: 0, down: 0 };
  #requests = 0;

  private constructor(answers: ReadonlyMap<string, Answer>, certificate: Certificate | undefined) {
    const listener: http.RequestListener = (request, response) => {
      this.#serve(request, response, answers).catch((error: unknown) => {
        response.writeHead(400).end(messageOf(error));
      });
    };
    this.#scheme = certificate === undefined ? 'http' : 'https';
    this.#server =
      certificate === undefined
        ? http.createServer(listener)
        : https.createServer({ ...certificate, minVersion: 'TLSv1.3' }, listener);
    this.#server.on('connection', (socket: Socket) => this.#wires.push(socket));
    this.#server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.#clears.push(socket),
    );
  }

  /** A server that answers on the paths of `answers`; over TLS 1.3 with a certificate. */
  static async start(
    answers: ReadonlyMap<string, Answer>,
    certificate?: Certificate,
  ): Promise<CountingServer> {
    const server = new CountingServer(answers, certificate);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
    });
    return server;
  }

  url(path: string): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the server does not listen');
    return `${this.#scheme}://127.0.0.1:${address.port}${path}`;
  }

  /** Since its start. */
  traffic(): Traffic {
    return {
      requests: this.#requests,
      connections: this.#wires.length,
      wire: countersOf(this.#wires),
      http: countersOf(this.#clears),
      bodies: this.#bodies,
    };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    answers: ReadonlyMap<string, Answer>,
  ): Promise<void> {
    const answer = answers.get(request.url ?? '');
    // A body without a length would come in chunks, whose own bytes are neither head nor body; and no body is without a bound.
    const declared = Number(request.headers['content-length']);
    if (answer === undefined || !(declared <= MAX_FRAME_BYTES))
      throw new Error('expected a known path and a length');
    const body = await buffer(request);
    const { body: value, headers } = await answer(request, body);
    const text = Buffer.from(JSON.stringify(value));
    this.#requests += 1;
    this.#bodies = { up: this.#bodies.up + body.length, down: this.#bodies.down + text.length };
    const own = { 'Content-Type': 'application/json', 'Content-Length': text.length };
    response.writeHead(200, { ...own, ...headers }).end(text);
  }
}

function countersOf(sockets: readonly Socket[]): Bytes {
  return {
    up: sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    down: sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
  };
}
